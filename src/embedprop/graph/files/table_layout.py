"""Which columns a table has, what separates them, and which of them play a role for the graph."""

import csv
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embedprop.errors import InvalidGraphError, InvalidParameterError, did_you_mean
from embedprop.graph.files.text_blocks import BLANKS, TextFormat, shortened

logger = logging.getLogger(__name__)

SEPARATOR_OF_SUFFIX = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
# Files of these names are lists of edges without a header more often than not.
HEADERLESS_SUFFIXES = {".txt", ".edgelist", ".edges", ".el", ".snap"}


@dataclass(frozen=True)
class Roles:
    """The columns that a kind of table needs, may have, and whether all others are taken too."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    takes_rest: bool = False

    @property
    def all(self) -> tuple[str, ...]:
        """Every role, in the order of the columns of a file without a header."""
        return self.required + self.optional

    @property
    def example(self) -> str:
        """How the required columns of a file without a header are named."""
        return ",".join(f"{role}={i}" for i, role in enumerate(self.required, 1))


@dataclass(frozen=True)
class TableOptions:
    """What the user says about a file; what is None is detected.

    Parameters
    ----------
    columns
        Role → the name of its column, or its number from 1 in a file without a header.
    has_header
        Whether the first line names the columns.
    separator
        The character between fields; ``" "`` for runs of blanks and tabs.
    are_hints
        The options were meant for another file that was given together with this one: they are
        tried first and nothing is wrong if they do not fit.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    has_header: bool | None = None
    separator: str | None = None
    are_hints: bool = False

    def __post_init__(self) -> None:
        if self.separator is None:
            return
        separator = {"\\t": "\t", "\\s+": BLANKS, "tab": "\t"}.get(self.separator, self.separator)
        if len(separator) != 1 or not separator.isascii() or separator in '"#\n\r\0':
            raise InvalidParameterError(
                f"separator must be one ASCII character (',', ';', '|', a tab, or ' ' for blanks), "
                f"not {self.separator!r}."
            )
        object.__setattr__(self, "separator", separator)

    @property
    def has_numbers(self) -> bool:
        """Whether columns are given by number."""
        return bool(self.columns) and all(str(c).isdecimal() for c in self.columns.values())


@dataclass(frozen=True)
class Source:
    """A file, the columns that a graph takes from it, and what the user says about it."""

    path: Path
    roles: Roles
    options: TableOptions

    @property
    def may_quote(self) -> bool:
        """Whether fields may be quoted."""
        # Elsewhere a lone quote is a character like any other: lists of edges are not quoted.
        separator = self.options.separator
        is_known = separator is not None or bare_suffix(self.path) in SEPARATOR_OF_SUFFIX
        return is_known and separator != BLANKS

    def text_layout(
        self, lines: Sequence[str], *, after_comment: bool
    ) -> tuple[TextFormat, dict[str, int]]:
        """Find out the format of a text table, and role or name → index of the column.

        `lines` are its first two records.
        """
        options, separator = self.options, self._separator(lines[0])
        fields = _split(lines[0], separator)
        if options.has_header is not False or options.are_hints:
            picks = self.picks(fields, must=False)
            if picks is not None:
                return TextFormat(separator, len(fields), has_header=True), picks
        must = options.has_header and not options.are_hints
        if options.has_header is None and not options.has_numbers:
            must = not self._may_lack_header(lines, separator, after_comment)
        if must:
            self.picks(fields, must=True)
        return TextFormat(separator, len(fields), has_header=False), self._by_position(fields)

    def picks(self, names: Sequence[str], *, must: bool) -> dict[str, int] | None:
        """Return role → index of the column; None if one is missing that need not be there."""
        options, roles = self.options, self.roles
        known = [name.strip().lower() for name in names]
        picks: dict[str, int] = {}
        missing = []
        for role in roles.all:
            wanted = str(options.columns.get(role, role)).strip().lower()
            # Said of another file: this one may call the column by its usual name.
            if options.are_hints and wanted not in known:
                wanted = role
            if known.count(wanted) > 1:
                problem = f"column {wanted!r} is given twice. Rename one."
                raise InvalidGraphError(f"{self.path}: {problem}")
            if wanted in known:
                picks[role] = known.index(wanted)
            elif role in roles.required or (role in options.columns and not options.are_hints):
                missing.append(wanted)
        # Some names fit, so this is a header with a mistake in it rather than a record.
        if missing and (must or (picks and len(missing) < len(roles.required))):
            raise self._missing_columns(missing, names)
        if missing:
            return None
        if roles.takes_rest:
            taken = set(picks.values())
            picks |= {name.strip(): i for i, name in enumerate(names) if i not in taken}
            if len(picks) == len(taken):
                raise self._missing_columns(["value"], names)
        return picks

    def _missing_columns(self, missing: Sequence[str], names: Sequence[str]) -> InvalidGraphError:
        printable = ("".join(c if c.isprintable() else "?" for c in name.strip()) for name in names)
        found = shortened(", ".join(printable), 200)
        wanted = ", ".join(map(repr, missing))
        near = did_you_mean(missing[0], [name.strip() for name in names])
        example = ",".join(f"{role}=NAME" for role in self.roles.required)
        return InvalidGraphError(
            f"{self.path}: expected the column{'s' * (len(missing) > 1)} {wanted}, but its columns "
            f"are: {found}. Say which they are with columns= (--columns {example}), or "
            f"has_header=False (--no-header) if the first line is not a header.{near}"
        )

    def _separator(self, line: str) -> str:
        """Return the separator that was given, that the name promises, or that is in the line."""
        given = self.options.separator
        if given is not None and not self.options.are_hints:
            return given
        promised = SEPARATOR_OF_SUFFIX.get(bare_suffix(self.path))
        # NetworkX writes a dictionary after each edge, with commas of its own.
        line = line.partition("{")[0].strip(" ")
        for separator in (given, promised, "\t", ",", ";"):
            if separator is not None and separator in line:
                return separator
        # A table of one column has no separator; blanks belong to the names.
        if len(self.roles.required) > 1 and len(line.split()) > 1:
            return BLANKS
        return promised or ","

    def _may_lack_header(self, lines: Sequence[str], separator: str, after_comment: bool) -> bool:
        """Return whether the first line can be a record: numbers, or a file of headerless kind."""
        n_required = len(self.roles.required)
        is_numbers = [all(map(_is_number, _split(x, separator)[:n_required])) for x in lines]
        # Words above numbers are a header, though not the one expected.
        if any(is_numbers):
            return is_numbers[0]
        is_list = bare_suffix(self.path) in HEADERLESS_SUFFIXES or separator == BLANKS
        return is_list or after_comment

    def _by_position(self, fields: Sequence[str]) -> dict[str, int]:
        """Return role → index of the column for a file without a header."""
        path, roles = self.path, self.roles
        if self.options.columns and not self.options.are_hints:
            return self._by_number(len(fields))
        n_required = len(roles.required)
        if len(fields) < n_required + roles.takes_rest:
            expected = f"{n_required + roles.takes_rest} columns ({', '.join(roles.required)}, ...)"
            raise InvalidGraphError(
                f"{path}: expected at least {expected}, but the first line has {len(fields)}: "
                f"{shortened(', '.join(fields))!r}. Check the separator (separator=, "
                f"--separator)."
            )
        picks = {role: index for index, role in enumerate(roles.required)}
        if roles.takes_rest:
            return picks | {f"column {i + 1}": i for i in range(n_required, len(fields))}
        extra = [text.strip() for text in fields[n_required:]]
        if not roles.optional or not any(extra) or extra == ["{}"]:
            return picks
        if len(extra) > len(roles.optional) or not _is_number(extra[0]):
            raise InvalidGraphError(
                f"{path} has no header, and its columns after {', '.join(roles.required)} are not "
                f"({', '.join(roles.optional)}): {shortened(', '.join(extra))!r}. Give it a "
                f"header, or the numbers of the columns with columns= (--columns {roles.example})."
            )
        picks |= {role: n_required + i for i, role in enumerate(roles.optional[: len(extra)])}
        # A third column of times, read as weights, would change every result.
        advice = "give the numbers of the columns with columns= (--columns source=1,target=2)"
        message = "%s has no header; its columns are read as %s. If that is wrong, %s."
        logger.warning(message, path, ", ".join(picks), advice)
        return picks

    def _by_number(self, n_fields: int) -> dict[str, int]:
        columns, roles = self.options.columns, self.roles
        asked = {role: str(columns[role]) for role in roles.all if role in columns}
        for role, number in asked.items():
            if not number.isdecimal() or not 1 <= int(number) <= n_fields:
                raise InvalidGraphError(
                    f"{self.path} has no header, so columns= must give numbers from 1 to "
                    f"{n_fields} (--columns {roles.example}), but {role} is {number!r}."
                )
        missing = " or ".join(role for role in roles.required if role not in asked)
        if missing:
            problem = f"columns= does not say which column is {missing}"
            advice = f"(--columns {roles.example})"
            raise InvalidGraphError(f"{self.path} has no header, and {problem} {advice}.")
        return {role: int(number) - 1 for role, number in asked.items()}


def bare_suffix(path: Path) -> str:
    """Return the ending of a file's name in small letters, without ``.gz``."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _split(line: str, separator: str) -> list[str]:
    if separator == BLANKS:
        return line.split()
    try:
        return next(csv.reader([line.rstrip("\r")], delimiter=separator), [])
    except csv.Error:  # a field beyond the length that csv takes; only the first fields matter here
        return line.split(separator)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
