"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table without a final line break.

    >>> print(markdown_table(["", "Cora"], [["EP-B", 78.05]]))
    | | Cora |
    |---|---|
    | EP-B | 78.05 |
    """
    names = "|".join(f" {name} " if name else " " for name in head)
    lines = [f"|{names}|", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])
