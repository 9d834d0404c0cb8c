"""Imports go down only: each package may know the layers below it, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "askless"
ROOT = "askless"  # the layer of askless/__init__.py

# From the bottom up. Packages on one line are siblings that do not know each other.
STACK = [
    ["_disk", "_text", "exceptions"],
    ["_extras", "_progress"],
    ["_core"],
    ["problem"],
    ["policy"],
    ["solve"],
    ["learn"],
    ["evaluate", "export", "run"],
    ["scale", "serve"],
]

# The rooms of a package, from the bottom up, likewise. Modules that lie beside the
# rooms are free to use them.
ROOMS = {
    "_core": [
        ["base"],
        ["price", "code"],
        ["tree"],
        ["greedy", "chain", "cost", "engine"],
        ["bagging", "soft", "search", "unknown", "ensemble", "boost"],
        ["total", "unknown_search"],
    ],
    "solve": [
        ["greedy"],
        ["search", "tradeoff"],
        ["total", "unknown"],
        ["sensitivity"],
    ],
    "learn": [
        ["store"],
        ["sources", "trees", "forest"],
        ["boost", "cost_tree"],
        ["rivals", "regress"],
    ],
    "serve": [["kept"], ["pages"]],
}

# A policy hands itself up to the layer that runs it, by name; only its annotations
# say what comes back.
ANNOTATED_ABOVE = {("policy/_upwards.py", "run")}


def downwards(stack: list[list[str]]) -> dict[str, set[str]]:
    """Return, for each name of a stack, those that it may import: itself and below."""
    allowed: dict[str, set[str]] = {}
    below: set[str] = set()
    for siblings in stack:
        allowed.update({name: below | {name} for name in siblings})
        below = below | set(siblings)
    return allowed


def allowed_imports() -> dict[str, set[str]]:
    """Return, for each layer, the layers that it may import."""
    allowed = downwards(STACK)
    below = set(allowed)
    allowed["datasets"] = allowed["problem"] | {"datasets"}
    below = below | {"datasets"}
    allowed[ROOT] = below - {"_core"} | {ROOT}
    allowed["testing"] = below | {ROOT, "testing"}
    allowed["cli"] = below | {ROOT, "cli"}
    return allowed


ALLOWED = allowed_imports()
ALLOWED_ROOMS = {layer: downwards(stack) for layer, stack in ROOMS.items()}


def layer_of_file(path: Path) -> str:
    """Return the layer of a file given by its path inside the package."""
    first = path.parts[0].split(".")[0]
    return {"__init__": ROOT, "__main__": "cli"}.get(first, first)


def layers_of_import(module: str, names: list[str]) -> Iterator[str]:
    """Yield the layers that ``from module import names`` reaches into."""
    package, *parts = module.split(".")
    if package != ROOT:
        return
    if parts:
        yield parts[0]
    else:
        yield from (name if name in ALLOWED else ROOT for name in names or [ROOT])


def python_imports(source: str, path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, module, names) of each import, those inside functions included."""
    package = [ROOT, *path.parent.parts]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield node.lineno, module, [alias.name for alias in node.names]


CYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+)?c?import\b[ \t]*"
    r"(?P<names>\([^)]*\)|[^\n#]*)",
    re.MULTILINE,
)


def cython_imports(source: str, path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (line, module, names) of each import and cimport of a .pyx or .pxd file."""
    package = [ROOT, *path.parent.parts]
    for match in CYTHON_IMPORT.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        listed = re.sub(r"#[^\n]*", "", match["names"]).strip("() \t").split(",")
        names = [name.split()[0] for name in listed if name.strip()]
        module = match["module"]
        if module is None:
            yield from ((line, name, []) for name in names)
            continue
        level = len(module) - len(module.lstrip("."))
        if level:
            base = package[: len(package) + 1 - level]
            module = ".".join([*base, *filter(None, [module.lstrip(".")])])
        yield line, module, names


def room_complaints(source: str, path: Path) -> list[str]:
    """Return a line for each import of a file that its room does not allow."""
    layer, room = path.parts[0], path.parts[1] if len(path.parts) > 2 else None
    if layer not in ROOMS or room is None:
        return []
    rooms = ALLOWED_ROOMS[layer]
    if room not in rooms:
        return [f"{ROOT}/{path.as_posix()}:1: room {room!r} is not in this test"]
    read = cython_imports if path.suffix in {".pyx", ".pxd"} else python_imports
    found = []
    for line, module, names in sorted(read(source, path)):
        parts = module.split(".")
        if parts[:2] != [ROOT, layer]:
            continue
        for imported in parts[2:3] or names:
            if imported in rooms and imported not in rooms[room]:
                found.append(
                    f"{ROOT}/{path.as_posix()}:{line}: room {room!r} must not import "
                    f"room {imported!r}"
                )
    return found


def complaints(source: str, path: Path) -> list[str]:
    """Return a line for each import of a file that its layer does not allow."""
    importer = layer_of_file(path)
    if importer not in ALLOWED:
        return [f"{ROOT}/{path.as_posix()}:1: layer {importer!r} is not in this test"]
    read = cython_imports if path.suffix in {".pyx", ".pxd"} else python_imports
    return [
        f"{ROOT}/{path.as_posix()}:{line}: layer {importer!r} must not import "
        f"layer {imported!r}"
        for line, module, names in sorted(read(source, path))
        for imported in sorted(set(layers_of_import(module, names)))
        if imported not in ALLOWED[importer]
        and (path.as_posix(), imported) not in ANNOTATED_ABOVE
    ]


def source_files() -> list[Path]:
    suffixes = {".py", ".pyi", ".pyx", ".pxd"}
    return sorted(path for path in SOURCE.rglob("*") if path.suffix in suffixes)


def test_every_import_goes_down():
    files = source_files()
    assert files, f"no sources in {SOURCE}"
    found = [
        complaint
        for file in files
        for find in (complaints, room_complaints)
        for complaint in find(
            file.read_text(encoding="utf-8"), file.relative_to(SOURCE)
        )
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source", "line", "importer", "imported"),
    [
        ("policy/_a.py", "\nfrom askless.solve import s\n", 2, "policy", "solve"),
        ("problem/_a.py", "def f():\n    import askless.run._b\n", 2, "problem", "run"),
        ("run/_a.py", "from askless import evaluate\n", 1, "run", "evaluate"),
        ("run/_a.py", "from askless import Table\n", 1, "run", "askless"),
        ("solve/_a.py", "import numpy, askless\n", 1, "solve", "askless"),
        ("learn/_a.py", "from ..cli import main\n", 1, "learn", "cli"),
        ("datasets/_a.py", "from askless.policy import p\n", 1, "datasets", "policy"),
        ("cli/_a.py", "from askless.testing import t\n", 1, "cli", "testing"),
        ("__init__.py", "from askless.cli import main\n", 1, "askless", "cli"),
        ("__init__.py", "from askless._core import k\n", 1, "askless", "_core"),
        ("exceptions.py", "import askless.problem\n", 1, "exceptions", "problem"),
        ("_core/_a.pyx", "\ncimport askless.solve._b\n", 2, "_core", "solve"),
        ("_core/_a.pyx", "from askless.policy cimport p\n", 1, "_core", "policy"),
        ("_core/_a.pxd", "from ..learn cimport p\n", 1, "_core", "learn"),
        ("_core/_a.pyx", "from askless cimport (\n  run,\n)\n", 1, "_core", "run"),
    ],
)
def test_an_import_that_goes_up_is_found(path, source, line, importer, imported):
    assert complaints(source, Path(path)) == [
        f"askless/{path}:{line}: layer {importer!r} must not import layer {imported!r}"
    ]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("run/_a.py", "import numpy\nfrom askless.policy import p\n"),
        ("run/_a.py", "from askless.run._b import b\nimport askless.exceptions\n"),
        ("cli/_a.py", "import askless\nfrom askless import Table, datasets\n"),
        ("__main__.py", "from askless.cli import main\n"),
        ("testing/_a.py", "from askless.run import r\nimport askless\n"),
        ("datasets/_a.py", "from askless.problem import p\n"),
        ("_core/_a.pyx", 'cdef extern from "a.h":\n    int import_all()\n'),
        (
            "_core/_a.pyx",
            "from askless._core.base cimport (  # why\n    a, b\n)\n",
        ),
        ("_core/_a.pyx", "from libc.math cimport INFINITY\ncimport cython\n"),
    ],
)
def test_an_import_that_goes_down_is_let_through(path, source):
    assert complaints(source, Path(path)) == []


def test_an_import_of_a_room_above_is_found():
    path = Path("_core/tree/_a.pyx")
    source = "from askless._core.greedy._grow cimport g\n"
    assert room_complaints(source, path) == [
        "askless/_core/tree/_a.pyx:1: room 'tree' must not import room 'greedy'"
    ]
    assert room_complaints("from askless._core cimport greedy\n", path)
    assert not room_complaints("from askless._core.price._prices cimport p\n", path)


def test_a_room_that_is_not_listed_is_found():
    assert room_complaints("", Path("solve/attic/_a.py")) == [
        "askless/solve/attic/_a.py:1: room 'attic' is not in this test"
    ]


def test_a_package_without_a_layer_is_found():
    assert complaints("", Path("extra/_a.py")) == [
        "askless/extra/_a.py:1: layer 'extra' is not in this test"
    ]
