"""The parts of a model with torch modules as arrays and settings, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from embedprop.errors import InvalidParameterError
from embedprop.files.folder.load import StoredModel
from embedprop.graph.changes.texts import Tokens
from embedprop.graph.multisets import Multisets
from embedprop.graph.vocabulary import Vocabulary
from embedprop.instance.description import Instance
from embedprop.model.learned_modules import ModuleLearned

if TYPE_CHECKING:
    from embedprop.framework.modules import TypeModule

Arrays = dict[str, NDArray[Any]]


def module_arrays(learned: ModuleLearned) -> Arrays:
    """Return what the modules hold; a user's own module is left out."""
    arrays: Arrays = {}
    for name, module in learned.modules.items():
        arrays[f"table {name}"] = learned.tables[name]
        sets = module.labels.sets
        arrays[f"ptr {name}"], arrays[f"ids {name}"] = sets.ptr, sets.ids
        if sets.weights is not None:
            arrays[f"weights {name}"] = sets.weights
        for key, value in module.saved_state().items():
            arrays[f"module {name} {key}"] = value
    return arrays


def module_settings(learned: ModuleLearned) -> dict[str, Any]:
    """Return the sizes that are needed to build the modules again."""
    return {
        name: {
            "shape": list(module.labels.shape),
            "n_labels": module.labels.n_labels,
            "n_edges": module.n_edges,
        }
        for name, module in learned.modules.items()
    }


def module_vocabularies(learned: ModuleLearned) -> dict[str, Any]:
    """Return the words that encoders of texts know."""
    return {
        f"tokens {name}": module.labels.tokens.vocabulary.names
        for name, module in learned.modules.items()
        if module.labels.tokens is not None
    }


class StoredModules(Mapping[str, "TypeModule"]):
    """The modules of a loaded model, built when one is first used: until then torch is not."""

    def __init__(self, stored: StoredModel, instance: Instance) -> None:
        self._stored, self._instance = stored, instance
        self._built: dict[str, TypeModule] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._instance.label_types)

    def __len__(self) -> int:
        return len(self._instance.label_types)

    def __getitem__(self, name: str) -> TypeModule:
        if name not in self._built:
            self._built[name] = self._build(name)
        return self._built[name]

    def _build(self, name: str) -> TypeModule:
        import torch

        from embedprop.framework.modules import Labels, TypeModule

        settings, arrays = self._instance.label_types[name], self._stored.arrays
        sizes = self._stored.settings["modules"][name]
        tokens = self._stored.vocabularies.get(f"tokens {name}")
        sets = Multisets(
            arrays[f"ptr {name}"], arrays[f"ids {name}"], arrays.get(f"weights {name}")
        )
        labels = Labels(
            sets,
            sizes["n_labels"],
            len(arrays[f"table {name}"]),
            None,
            tuple(sizes["shape"]),
            None if tokens is None else Tokens(Vocabulary.trusted(tokens)),
        )
        missing = {
            part: _missing(part, name)
            for part in ("label_embedding", "aggregator", "reconstruction", "distance", "loss")
            if getattr(settings, part).startswith("custom ")
        }
        with torch.random.fork_rng(devices=[]):
            module = TypeModule(
                name, settings, labels, sizes["n_edges"], self._instance.n_relations, missing
            )
        start = f"module {name} "
        module.load_saved_state(
            {
                key.removeprefix(start): value
                for key, value in arrays.items()
                if key.startswith(start)
            }
        )
        return module.eval()


def _missing(part: str, label_type: str) -> Any:
    """Return a module that says why it cannot be used."""
    from torch import nn

    class Missing(nn.Module):
        def forward(self, *_: Any) -> Any:
            raise InvalidParameterError(
                f"{part} of label type {label_type!r} was a module of your own, which a saved "
                f"model does not hold. Known nodes keep their vectors; for what needs the module, "
                f"use the model before it was saved, or train it again."
            )

    return Missing()
