"""The facts of the house: how large the code is, and where it asks what only a method may know.

    python benchmarks/house.py                # the facts of this tree; exit code 1: one is broken
    python benchmarks/house.py --src DIR/src  # of another tree, with its pyproject.toml beside it
    python benchmarks/house.py --by-folder    # lines of code, docstrings and comments per folder

Code lines hold a token that is neither a comment nor part of a docstring; blank lines are none, and
the lines of a string that is not a docstring are. The lines of a function are those from its `def`
to its end, without the docstring.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parents[1] / "src"
FILE_LINES, FUNCTION_LINES = 300, 40
# What is larger than these limits is named here, with its reason.
LARGE_FILES: dict[str, str] = {
    "estimators.py": "both estimators, every public method with its docstring and example",
    "framework/modules.py": "one module is a label type's whole step; its state is saved as one",
    "model/model.py": "one final class answers every query, each with its docstring and example",
}
LARGE_FUNCTIONS: dict[str, str] = {
    "kernels/draws/walks.py:walk": "a kernel: one loop over one walk",
}

METHODS = {"epb", "eps", "closed-form", "closed_form"}
CLASSES = {"EPBInstance", "ClosedFormInstance", "ClosedForm", "EmbeddingPropagation"}
NAMES_OF_METHOD = {"method", "instance", "instance.name"}
# Here the word is a number of a formula, not a method.
OTHER_EPS = {"kernels/epb/adam.py"}
WORD_EPS = re.compile(r"\beps\b")
QUOTED_EPS = re.compile(r"""["'`]eps["'`]""")
LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
# From Python 3.12 on, the text of an f-string is a token of its own.
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
COUNT_PARAMETERS = """
import inspect, sys, embedprop
found = getattr(embedprop, sys.argv[1], None)
print("" if found is None else len(inspect.signature(found).parameters))
"""

Documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


class Fact(NamedTuple):
    """What was counted, what it may be ("<= 4"), and where what breaks it stands."""

    name: str
    value: float | None
    limit: str
    where: list[str]

    @property
    def is_kept(self) -> bool:
        """Whether the value is within its limit; one that could not be counted is not."""
        if self.value is None:
            return False
        sign, number = self.limit.rstrip(" %").split()
        return self.value <= float(number) if sign == "<=" else self.value >= float(number)


class Module(NamedTuple):
    """A file of the package: its path in it, its text, tree, docstring lines, and tokens."""

    path: str
    text: str
    tree: ast.Module
    docstrings: set[int]
    tokens: list[tokenize.TokenInfo]

    @classmethod
    def read(cls, file: Path, package: Path) -> Module:
        """Read and parse a file."""
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        lines = {line for node in ast.walk(tree) for line in docstring_lines(node)}
        return cls(file.relative_to(package).as_posix(), text, tree, lines, tokens)

    @property
    def n_lines(self) -> int:
        """All lines."""
        return len(self.text.splitlines())

    @property
    def n_code(self) -> int:
        """Lines with a token that is neither a comment nor part of a docstring."""
        lines: set[int] = set()
        for token in self.tokens:
            if token.type not in LAYOUT and token.type != tokenize.COMMENT:
                lines.update(range(token.start[0], token.end[0] + 1))
        return len(lines - self.docstrings)

    @property
    def n_comments(self) -> int:
        """Lines that hold a comment and nothing else."""
        comments = (token for token in self.tokens if token.type == tokenize.COMMENT)
        return sum(token.line.lstrip().startswith("#") for token in comments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--src", type=Path, default=HERE, help="the folder that holds embedprop")
    parser.add_argument("--by-folder", action="store_true", help="lines per folder, no facts")
    options = parser.parse_args()
    package = options.src.resolve() / "embedprop"
    modules = [Module.read(file, package) for file in sorted(package.rglob("*.py"))]
    if options.by_folder:
        print_folders(modules)
        return
    facts = list(facts_of(modules, package))
    print_facts(facts)
    sys.exit(0 if all(fact.is_kept for fact in facts) else 1)


def facts_of(modules: list[Module], package: Path) -> Iterator[Fact]:
    """Yield each fact of a package."""
    at_root = [module.path for module in modules if "/" not in module.path]
    yield Fact("modules at the root", len(at_root), "<= 4", at_root)
    for name, found in {
        "questions for the method outside methods/": questions,
        "the word eps": words_eps,
    }.items():
        where = [place for module in modules for place in found(module)]
        yield Fact(name, len(where), "<= 1" if found is words_eps else "<= 0", where)
    for name, most in {"EmbeddingPropagation": 20, "ClosedForm": 9}.items():
        yield Fact(f"parameters of {name}", n_parameters(name, package.parent), f"<= {most}", [])
    files = {one.path: one.n_lines for one in modules if one.n_lines > FILE_LINES}
    functions = dict(pair for module in modules for pair in large_functions(module))
    yield Fact(f"files above {FILE_LINES} lines", len(files), "<= 5", shown(files, LARGE_FILES))
    yield Fact(
        f"functions above {FUNCTION_LINES} lines",
        len(functions),
        "<= 12",
        shown(functions, LARGE_FUNCTIONS),
    )
    unnamed = (files.keys() ^ LARGE_FILES.keys()) | (functions.keys() ^ LARGE_FUNCTIONS.keys())
    yield Fact("of these without a reason, and stale reasons", len(unnamed), "<= 0", [*unnamed])
    code = sum(module.n_code for module in modules)
    comments = sum(module.n_comments for module in modules)
    yield Fact("code lines", code, "<= 15500", [])
    yield Fact("docstring lines", sum(len(one.docstrings) for one in modules), ">= 3300", [])
    yield Fact("own-line comments, % of code lines", 100 * comments / code, ">= 3 %", [])
    yield Fact("rows of the layers contract", n_layers(package.parents[1]), "<= 13", [])


def questions(module: Module) -> Iterator[str]:
    """Yield the places outside methods/ that ask which method or instance something is."""
    if module.path.startswith("methods/"):
        return
    for node in ast.walk(module.tree):
        if is_question(node):
            yield f"{module.path}:{node.lineno} {ast.unparse(node)}"


def is_question(node: ast.AST) -> bool:
    """Whether an expression tells methods apart, by class or by name."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}:
        return any(is_class_of_method(one) for one in ast.walk(node.args[1]))
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        texts = {text for side in sides for text in strings_in(side)}
        is_name_of_method = any(
            ast.unparse(side) in NAMES_OF_METHOD
            or ast.unparse(side).endswith((".method", ".instance.name"))
            for side in sides
        )
        of_class = any(isinstance(op, ast.Is | ast.IsNot | ast.Eq) for op in node.ops) and any(
            is_class_of_method(side) for side in sides
        )
        return bool(texts & METHODS) or (is_name_of_method and bool(texts)) or of_class
    if isinstance(node, ast.pattern):
        values = [one for one in ast.walk(node) if isinstance(one, ast.MatchValue | ast.MatchClass)]
        return any(
            is_class_of_method(one.cls)
            if isinstance(one, ast.MatchClass)
            else bool(set(strings_in(one.value)) & METHODS)
            for one in values
        )
    return False


def is_class_of_method(node: ast.AST) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name in CLASSES or (name.endswith("Method") and name != "Method")


def strings_in(node: ast.expr) -> list[str]:
    """Return the strings that are compared with: one, or those of a tuple, list or set."""
    members = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    values = [one.value for one in members if isinstance(one, ast.Constant)]
    return [value for value in values if isinstance(value, str)]


def words_eps(module: Module) -> Iterator[str]:
    """Yield the lines with eps as an identifier or in a string; in prose, where it is quoted."""
    if module.path in OTHER_EPS:
        return
    for token, after in zip(module.tokens, [*module.tokens[1:], None], strict=True):
        is_prose = token.type == tokenize.COMMENT or token.start[0] in module.docstrings
        if token.type == tokenize.NAME:
            # `eps=` is what torch and NumPy call a parameter of theirs.
            found = token.string == "eps" and (after is None or after.string != "=")
        elif is_prose:
            found = QUOTED_EPS.search(token.string) is not None
        else:
            found = token.type in STRINGS and WORD_EPS.search(token.string) is not None
        if found:
            yield f"{module.path}:{token.start[0]} {token.string.strip()[:60]}"


def large_functions(module: Module) -> Iterator[tuple[str, int]]:
    """Yield the functions above the limit, as "path:name", with their lines."""
    for node in ast.walk(module.tree):
        if isinstance(node, Function):
            n_lines = (node.end_lineno or 0) - node.lineno + 1 - len(docstring_lines(node))
            if n_lines > FUNCTION_LINES:
                yield f"{module.path}:{node.name}", n_lines


def docstring_lines(node: ast.AST) -> range:
    """Return the lines of a docstring; none where there is none."""
    if not isinstance(node, Documented) or ast.get_docstring(node) is None:
        return range(0)
    return range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def shown(found: dict[str, int], reasons: dict[str, str]) -> list[str]:
    return [f"{name} ({n} lines): {reasons.get(name, 'no reason')}" for name, n in found.items()]


def n_parameters(name: str, src: Path) -> int | None:
    """Return how many parameters a public class has; None: there is no such class."""
    found = subprocess.run(
        [sys.executable, "-c", COUNT_PARAMETERS, name],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(src)},
    )
    return int(found.stdout) if found.stdout.strip() else None


def n_layers(root: Path) -> int | None:
    """Return the rows of the contract of layers; None: there is no pyproject.toml with one."""
    file = root / "pyproject.toml"
    if not file.exists():
        return None
    settings: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["tool"]
    contracts = settings.get("importlinter", {}).get("contracts", [])
    return next((len(one["layers"]) for one in contracts if one["type"] == "layers"), None)


def print_facts(facts: list[Fact]) -> None:
    width = max(len(fact.name) for fact in facts)
    for fact in facts:
        value = f"{fact.value:,.2f}".removesuffix(".00") if fact.value is not None else "none"
        ok = "ok" if fact.is_kept else "BROKEN"
        print(f"{fact.name:<{width}}  {value:>7}  {fact.limit:>8}  {ok}")
        for place in () if fact.is_kept else sorted(fact.where):
            print(f"    {place}")


def print_folders(modules: list[Module]) -> None:
    """Print the lines of each folder, and their sum."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0] * 4)
    for module in modules:
        numbers = (module.n_code, len(module.docstrings), module.n_comments, 1)
        for folder in (f"{module.path.rpartition('/')[0]}/", "all"):
            counts[folder] = [a + b for a, b in zip(counts[folder], numbers, strict=True)]
    total = counts.pop("all")
    print(f"{'folder':<28}{'code':>8}{'docstrings':>12}{'comments':>10}{'files':>7}")
    for folder, (code, docs, comments, files) in [*sorted(counts.items()), ("all", total)]:
        print(f"{folder:<28}{code:>8,}{docs:>12,}{comments:>10,}{files:>7}")


if __name__ == "__main__":
    main()
