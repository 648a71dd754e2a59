"""Which label types to learn from: those asked for, or all that a method reads."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence

from embedprop.errors import InvalidParameterError, did_you_mean

logger = logging.getLogger(__name__)


def chosen_types(
    kinds: Mapping[str, str],
    wanted: Sequence[str] | None,
    readable: Collection[str],
    why: str,
    cure: str = "",
) -> dict[str, str]:
    """Return the kinds of the label types that are wanted, in the graph's order; None: readable.

    kinds: of all label types of a graph. readable: the label types that can be read; `why` says
    why no others, and `cure` what to do about it.
    """
    if wanted is None:
        left = [name for name in kinds if name not in readable]
        if left:
            logger.warning("Left aside (%s): %s.", why, ", ".join(map(repr, left)))
        return {name: kind for name, kind in kinds.items() if name in readable}
    if isinstance(wanted, str) or not isinstance(wanted, Collection) or not len(wanted):
        raise InvalidParameterError(
            f"label_types={wanted!r} is not possible: give a list of names, for example "
            f'["word"], or None for all of: {", ".join(map(repr, kinds))}.'
        )
    for name in wanted:
        if not isinstance(name, str) or name not in kinds:
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} is unknown. There are: "
                f"{', '.join(map(repr, kinds))}.{did_you_mean(name, kinds)}"
            )
        if name not in readable:
            raise InvalidParameterError(
                f"label_types={wanted!r}: {name!r} is of kind {kinds[name]!r}, but {why}{cure}. "
                f"Those that can be read: {', '.join(map(repr, readable))}."
            )
    return {name: kind for name, kind in kinds.items() if name in wanted}
