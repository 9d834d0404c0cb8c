"""Measure the sources: lines, files, functions, arguments, and what is said twice.

`make sizes` prints it; tests/test_sizes.py keeps limits. A line of code is one that is
neither blank, nor a comment, nor part of a docstring. Arguments are counted without
`self`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "askless"
# Runs of this many equal lines of code in two places are said twice.
SAME_LINES = 6
SUFFIXES = (".py", ".pyx", ".pxd", ".pyi", ".h", ".js")


@dataclass(frozen=True)
class Function:
    """One function, where it is, and how large."""

    file: str  # below src/askless
    name: str
    line: int
    n_lines: int
    n_arguments: int
    is_constructor: bool  # `__init__` of a class without a leading underscore

    @property
    def key(self) -> str:
        """Return what names this function in a list that outlives its line number."""
        return f"{self.file}:{self.name}"


# Python.


def python_functions(source: str, file: str) -> Iterator[Function]:
    """Yield every function of a Python file, nested ones too."""
    code = code_lines(source)
    yield from _functions_in(ast.parse(source), file, code, "")


def _functions_in(
    node: ast.AST, file: str, code: set[int], prefix: str
) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        name = getattr(child, "name", "")
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            end = child.end_lineno or child.lineno
            taken = child.args
            names = [a.arg for a in (*taken.posonlyargs, *taken.args)]
            is_method = bool(names) and names[0] in ("self", "cls")
            extra = (taken.vararg is not None) + (taken.kwarg is not None)
            yield Function(
                file=file,
                name=prefix + name,
                line=child.lineno,
                n_lines=len(code & set(range(child.lineno, end + 1))),
                n_arguments=len(names) - is_method + len(taken.kwonlyargs) + extra,
                is_constructor=name == "__init__" and not prefix.startswith("_"),
            )
        below = f"{prefix}{name}." if name else prefix
        yield from _functions_in(child, file, code, below)


def code_lines(source: str) -> set[int]:
    """Return the numbers of the lines that hold code."""
    found: set[int] = set()
    skipped = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
        tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER,
    }  # fmt: skip
    is_start = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            is_start = True
        elif token.type not in skipped:
            # A string that begins a statement is a docstring, or does nothing.
            if not (is_start and token.type == tokenize.STRING):
                found |= set(range(token.start[0], token.end[0] + 1))
            is_start = False
    return found


# Cython, by its layout: Python's parser cannot read it.

HEAD = re.compile(
    r"^(?P<indent> *)(?P<kind>def|cdef|cpdef|async def|class|cdef class)\b(?P<rest>.*)"
)


def cython_functions(source: str, file: str) -> Iterator[Function]:
    """Yield every function with a body of a Cython file, compiled ones included."""
    lines = strip_cython(source)
    classes: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        head = HEAD.match(line)
        if head is None:
            continue
        indent = len(head["indent"])
        classes = [(width, name) for width, name in classes if width < indent]
        if is_class := re.match(r" *(?:cdef )?class +(\w+)", line):
            classes.append((indent, is_class[1]))
            continue
        signature, end = _signature(lines, at)
        name = re.search(r"(\w+)\s*\($", signature.split("(")[0] + "(")
        if name is None or "(" not in signature:
            continue
        arguments, behind = _arguments(signature)
        if ":" not in behind:
            continue  # declared here, written elsewhere
        last = _end_of_block(lines, end, indent)
        is_method = bool(arguments) and arguments[0] in ("self", "cls")
        owner = "".join(f"{name}." for _, name in classes)
        yield Function(
            file=file,
            name=owner + name[1],
            line=at + 1,
            n_lines=sum(bool(text.strip()) for text in lines[at : last + 1]),
            n_arguments=len(arguments) - is_method,
            is_constructor=False,
        )


def strip_cython(source: str) -> list[str]:
    """Return the lines without comments and docstrings; their places stay."""
    blank = re.compile(r"[^\n]")

    def emptied(match: re.Match[str]) -> str:
        return blank.sub(" ", match[0])

    quoted = r"\"\"\"(?:.|\n)*?\"\"\"|'''(?:.|\n)*?'''"
    text = re.sub(quoted, emptied, source)
    # A hash inside a string stays: the string is matched first.
    text = re.sub(
        r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*",
        lambda m: emptied(m) if m[0].startswith("#") else m[0],
        text,
    )
    return text.split("\n")


def _signature(lines: list[str], at: int) -> tuple[str, int]:
    """Return a head up to its colon, or up to the end of the line that closes it."""
    text, depth = "", 0
    for end in range(at, min(at + 80, len(lines))):
        text += lines[end].strip() + " "
        depth += sum(lines[end].count(c) for c in "([{")
        depth -= sum(lines[end].count(c) for c in ")]}")
        if depth <= 0:
            return text.strip(), end
    return text.strip(), at


def _arguments(signature: str) -> tuple[list[str], str]:
    """Return the names of the arguments of a head, and what stands behind them."""
    start = signature.index("(") + 1
    depth, parts, end = 1, [""], start
    while depth and end < len(signature):
        sign = signature[end]
        end += 1
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 1:
            parts.append("")
        elif depth:
            parts[-1] += sign
    found = []
    for part in parts:
        words = re.findall(r"\w+", part.split("=")[0].replace(" not None", ""))
        # A star alone, a slash, or nothing after the last comma.
        if words:
            found.append(words[-1])
    return found, signature[end:]


def _end_of_block(lines: list[str], at: int, indent: int) -> int:
    last = at
    for i in range(at + 1, len(lines)):
        if not lines[i].strip():
            continue
        if len(lines[i]) - len(lines[i].lstrip()) <= indent:
            break
        last = i
    return last


# The whole.


def source_files(*suffixes: str) -> list[Path]:
    return sorted(
        path
        for path in SOURCE.rglob("*")
        if path.suffix in suffixes and "__pycache__" not in path.parts
    )


@cache
def all_functions() -> list[Function]:
    """Return every function of the package."""
    found: list[Function] = []
    for path in source_files(".py", ".pyx", ".pxd"):
        source = path.read_text(encoding="utf-8")
        file = path.relative_to(SOURCE).as_posix()
        read = python_functions if path.suffix == ".py" else cython_functions
        found += read(source, file)
    return found


def files_by_folder(root: Path = SOURCE) -> Counter[str]:
    """Return how many files each folder holds, those below it not counted.

    A kernel, its declarations and its stub count as one: they are read together.
    """
    return Counter(
        folder.relative_to(root).as_posix()
        for folder, _ in {
            (path.parent, path.name.split(".")[0])
            for path in root.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    )


def plain_lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines of code of a file that say something, with their numbers."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kept = code_lines(source)
        lines = [
            (number, text.strip())
            for number, text in enumerate(source.split("\n"), 1)
            if number in kept
        ]
    else:
        lines = list(enumerate((text.strip() for text in strip_cython(source)), 1))
    # Closing brackets alone, and imports, are the same everywhere.
    found = []
    is_listing = False  # inside the brackets of an import
    for number, text in lines:
        is_import = is_listing or re.match(r"(from|import|cimport)\b", text)
        is_listing = bool(is_import) and ")" not in text and (is_listing or "(" in text)
        if re.search(r"\w", text) and not is_import:
            found.append((number, text))
    return found


def same_lines(paths: list[Path], n: int = SAME_LINES) -> list[tuple[str, str, int]]:
    """Return pairs of places that share a run of `n` or more lines, and how many."""
    lines = {path: plain_lines(path) for path in paths}
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path, numbered in lines.items():
        for i in range(len(numbered) - n + 1):
            places[tuple(text for _, text in numbered[i : i + n])].append((path, i))
    pairs = {
        (one, other)
        for found in places.values()
        for k, one in enumerate(found)
        for other in found[k + 1 :]
        if not _are_declaration_and_body(one[0], other[0])
    }
    runs = []
    for one, other in sorted(pairs):
        before = ((one[0], one[1] - 1), (other[0], other[1] - 1))
        if before in pairs:
            continue  # a run is told once, from its first line
        length = n
        while (
            (one[0], one[1] + length - n + 1),
            (other[0], other[1] + length - n + 1),
        ) in pairs:
            length += 1
        runs.append((_place(lines, one), _place(lines, other), length))
    return sorted(runs, key=lambda run: -run[2])


def _are_declaration_and_body(one: Path, other: Path) -> bool:
    # What a kernel declares in its .pxd it has to say again where it is written.
    return one != other and one.with_suffix("") == other.with_suffix("")


def _place(lines: dict[Path, list[tuple[int, str]]], at: tuple[Path, int]) -> str:
    path, i = at
    name = path.relative_to(SOURCE) if SOURCE in path.parents else Path(path.name)
    return f"{name.as_posix()}:{lines[path][i][0]}"


def installed_sizes() -> Iterator[str]:
    """Yield a line for each wheel in dist/."""
    for wheel in sorted((ROOT / "dist").glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            total = sum(info.file_size for info in archive.infolist())
        yield f"{wheel.name}: {total / 1e6:.2f} MB installed"


def print_largest(title: str, found: list[Function], by: str, n: int = 5) -> None:
    print(f"\n{title}")
    for function in sorted(found, key=lambda f: -getattr(f, by))[:n]:
        size = getattr(function, by)
        print(f"  {size:4}  {function.file}:{function.line} {function.name}")


def main() -> int:
    """Print every measure."""
    total = 0
    print("lines of src/askless")
    for suffix in SUFFIXES:
        paths = source_files(suffix)
        n = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        print(f"  {n:6,}  {suffix} ({len(paths)} files)")
        total += n
    print(f"  {total:6,}  in all")

    print("\nfolders with most files, a kernel with its .pxd and .pyi counted once")
    for folder, n in files_by_folder().most_common(5):
        print(f"  {n:4}  {folder}")

    found = all_functions()
    python = [f for f in found if f.file.endswith(".py")]
    cython = [f for f in found if not f.file.endswith(".py")]
    print_largest("longest Python functions, lines of code", python, "n_lines")
    print_largest("longest Cython functions, lines of code", cython, "n_lines")
    made = [f for f in python if f.is_constructor]
    others = [f for f in python if not f.is_constructor]
    print_largest("most arguments, Python", others, "n_arguments")
    print_largest("most arguments, public constructors", made, "n_arguments")
    print_largest("most arguments, Cython", cython, "n_arguments")

    runs = same_lines(source_files(".py", ".pyx", ".pxd"))
    print(f"\n{len(runs)} pairs of places with {SAME_LINES} or more equal lines")
    for one, other, length in runs[:10]:
        print(f"  {length:4}  {one}  {other}")
    for line in installed_sizes():
        print(f"\n{line}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
