"""Tables of pandas, polars and Arrow, recognized by what they can do: none is imported here."""

from __future__ import annotations

from typing import Any

from embedprop.errors import InvalidGraphError, did_you_mean


def is_frame(values: object) -> bool:
    """Return whether `values` is a table with named columns (pandas, polars, Arrow)."""
    return hasattr(values, "columns") and hasattr(values, "__getitem__")


def collected(values: Any) -> Any:
    """Return `values`; a lazy polars frame is computed first."""
    return values.collect() if type(values).__name__ == "LazyFrame" else values


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a frame."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def column(frame: Any, name: str, what: str) -> Any:
    """Return one column of a frame; `what` names the frame in the error message."""
    known = column_names(frame)
    if known.count(name) != 1:
        raise InvalidGraphError(
            f"{what}: expected one column {name!r}, but the columns are "
            f"{', '.join(map(repr, known)) or 'none'}. Rename the column that is meant."
            f"{did_you_mean(name, (k for k in known if isinstance(k, str) and k != name))}"
        )
    return frame[name]
