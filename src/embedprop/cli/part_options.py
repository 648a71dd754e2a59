"""Options of `fit` that choose parts of the framework, and how their texts become values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from embedprop.cli.options import bad_value, pairs


def _part(help_text: str) -> Any:
    return typer.Option(metavar="NAME", help=f"{help_text} See 'embedprop parts'.")


EmbeddingOption = Annotated[
    str | None, _part("f, how labels become vectors; or image=cnn,age=mlp for each label type.")
]
AggregatorOption = Annotated[str | None, _part("g, over a node's own labels.")]
ReconstructionOption = Annotated[str | None, _part("g~, over its neighbors' labels.")]
DistanceOption = Annotated[str | None, _part("d, between the two.")]
LossOption = Annotated[str | None, _part("The loss, such as softmax(temperature=0.2).")]
RepresentationOption = Annotated[str, _part("r, how a node's vector is made.")]
InverseOption = Annotated[
    bool,
    typer.Option("--inverse-relations", help="Give each relation an inverse: labels travel back."),
]
PretrainedOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE=FILE",
        help="Start from the vectors of a word2vec or GloVe text file. Repeat it for more types.",
        show_default=False,
    ),
]
RefineOption = Annotated[
    bool, typer.Option("--refine/--no-refine", help="Whether pretrained vectors are learned on.")
]
DropoutOption = Annotated[
    str, typer.Option(metavar="X", help="The chance that a label is left out; or word=0.3,node=0.")
]
FitTargetsOption = Annotated[
    Path | None,
    typer.Option(
        "--targets",
        metavar="FILE",
        help="Classes of some nodes (node,class) to learn; 'embedprop predict' gives the rest.",
        show_default=False,
    ),
]
TargetWeightOption = Annotated[
    float, typer.Option(metavar="X", help="Weight of the targets' loss.")
]
DeviceOption = Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where torch computes.")]


def part_of(option: str, text: str | None) -> str | dict[str, str] | None:
    """Return "max" of "max", and {"word": "softmax(temperature=1)"} of "word=softmax(...)".

    >>> part_of("--loss", "node=logistic,word=softmax(temperature=0.2)")
    {'node': 'logistic', 'word': 'softmax(temperature=0.2)'}
    """
    if text is None or "=" not in text.split("(")[0]:
        return text
    pieces, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    if depth:
        raise bad_value(option, f"a parenthesis is not closed in {text!r}")
    return pairs(option, pieces)
