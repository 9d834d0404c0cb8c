"""Stubs say what compiled modules take: names, arguments, defaults, keywords."""

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

from tests.declarations import Declared, read_cython, read_stub
from tests.test_layers import python_imports

pytest.importorskip("Cython", reason="Cython's parser reads the sources")

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "askless"
CORE = PACKAGE / "_core"
STUBS = sorted(CORE.rglob("*.pyi"))


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


@cache
def classes_without_stub() -> dict[str, Declared]:
    """Return the compiled classes of modules without stubs, by name."""
    found = {}
    for path in sorted(CORE.rglob("*.pyx")):
        if not path.with_suffix(".pyi").exists():
            found.update(read_cython(path).classes)
    return found


def with_hidden_bases(declared: Declared) -> Declared:
    """Add what a class inherits from classes that have no stub: its own stub has it."""
    base = classes_without_stub().get(declared.base or "")
    if base is None:
        return declared
    base = with_hidden_bases(base)
    return Declared(
        functions={**base.functions, **declared.functions},
        attributes=base.attributes | declared.attributes,
        base=base.base,
    )


def disagreements(
    compiled: Declared, stub: Declared, where: str, is_module: bool = True
) -> list[str]:
    """Return a line for each name or signature that only one of the two has."""
    found = []
    for kind in ("attributes", "functions", "classes"):
        here, there = set(getattr(compiled, kind)), set(getattr(stub, kind))
        if is_module:
            # What only kernels use may be left out.
            here = {n for n in here if n in there or f"{where}.{n}" in imported_names()}
        found += [f"{where}: the stub lacks {name}" for name in sorted(here - there)]
        found += [f"{where}: only the stub has {name}" for name in sorted(there - here)]
    for name in sorted(set(compiled.functions) & set(stub.functions)):
        ours, theirs = compiled.functions[name], stub.functions[name]
        agree = len(ours) == len(theirs) and all(
            one.agrees_with(other) for one, other in zip(ours, theirs, strict=True)
        )
        if not agree:
            found.append(
                f"{where}.{name}: takes ({', '.join(map(str, ours))}), the stub says "
                f"({', '.join(map(str, theirs))})"
            )
    for name in sorted(set(compiled.classes) & set(stub.classes)):
        ours, theirs = with_hidden_bases(compiled.classes[name]), stub.classes[name]
        if ours.base != theirs.base:
            found.append(
                f"{where}.{name}: is a {ours.base}, the stub says {theirs.base}"
            )
        found += disagreements(ours, theirs, f"{where}.{name}", is_module=False)
    return found


def test_there_are_stubs():
    assert len(STUBS) > 20


@pytest.mark.parametrize("path", STUBS, ids=module_name)
def test_a_stub_says_what_the_source_says(path):
    source = path.with_suffix(".pyx")
    assert source.exists(), f"{path.name} is a stub of nothing"
    stub = read_stub(path.read_text(encoding="utf-8"))
    found = disagreements(read_cython(source), stub, module_name(path))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("path", STUBS, ids=module_name)
def test_the_compiled_module_has_every_name_of_its_stub(path):
    module = importlib.import_module(module_name(path))
    stub = read_stub(path.read_text(encoding="utf-8"))
    missing = [
        name
        for name in (*stub.functions, *stub.classes, *stub.attributes)
        if not hasattr(module, name)
    ]
    for name, declared in stub.classes.items():
        compiled = getattr(module, name, None)
        # A plain class has its attributes only once it is made.
        is_plain = bool(getattr(compiled, "__dictoffset__", 0))
        inside = (*declared.functions, *(() if is_plain else declared.attributes))
        missing += [f"{name}.{n}" for n in inside if not hasattr(compiled, n)]
    assert not missing


@cache
def imported_names() -> dict[str, str]:
    """Return the modules and names of the core that Python imports, with who does."""
    found = {}
    for folder in ("src", "tests", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            # Absolute imports only, so where the file lies does not matter.
            for _, module, names in python_imports(path.read_text("utf-8"), Path("x")):
                for name in (module, *(f"{module}.{name}" for name in names)):
                    if name.startswith("askless._core."):
                        found[name] = path.relative_to(ROOT).as_posix()
    return found


def test_every_kernel_that_python_imports_has_a_stub():
    stubs = {module_name(path) for path in STUBS}
    sources = {module_name(path) for path in CORE.rglob("*.pyx")}
    imported = imported_names()
    lacking = {name: imported[name] for name in set(imported) & sources - stubs}
    assert set(imported) & stubs
    assert not lacking


# That the comparison bites.


def declared(tmp_path: Path, pyx: str, pyi: str, pxd: str = "") -> list[str]:
    (tmp_path / "m.pyx").write_text(pyx)
    if pxd:
        (tmp_path / "m.pxd").write_text(pxd)
    return disagreements(read_cython(tmp_path / "m.pyx"), read_stub(pyi), "m")


@pytest.mark.parametrize(
    ("pyx", "pyi", "complaint"),
    [
        ("def f(int a): pass", "def f(a: int) -> None: ...", None),
        ("def f(a): pass", "", "m: the stub lacks f"),
        ("def only_kernels_use_this(a): pass", "", None),
        ("cdef int f(int a): pass", "def f(a: int) -> int: ...", "only the stub has f"),
        ("cpdef int f(int a): pass", "def f(a: int) -> int: ...", None),
        ("def _f(a): pass", "", None),
        ("def f(a): pass", "def f(b): ...", "takes (a), the stub says (b)"),
        ("def f(a, b): pass", "def f(b, a): ...", "takes (a, b)"),
        ("def f(a, *, b): pass", "def f(a, b): ...", "b (keyword)"),
        ("def f(a, b=1): pass", "def f(a, b): ...", "takes (a, b=1)"),
        ("def f(bint b=True): pass", "def f(b: bool = False): ...", "b=True"),
        ("def f(double b=-1.5): pass", "def f(b: float = -1.5): ...", None),
        ("def f(b='x'): pass", "def f(b: str = 'x'): ...", None),
        ("def f(b=1): pass", "def f(b: int = ...): ...", None),
        ("def f(b): pass", "def f(b: int = ...): ...", "takes (b)"),
        ("def f(*a, **b): pass", "def f(*a, **b): ...", None),
        ("cdef class C:\n    cdef readonly int a, b\n    cdef int c\n",
         "class C:\n    a: int\n    @property\n    def b(self): ...\n", None),
        ("cdef class C:\n    cdef public int a\n", "class C: ...",
         "m.C: the stub lacks a"),
        ("cdef class C:\n    def __cinit__(self, int a): pass\n",
         "class C:\n    def __init__(self, a: int) -> None: ...", None),
        ("cdef class C:\n    def __init__(self, int a): pass\n",
         "class C:\n    def __init__(self) -> None: ...", "takes (self, a)"),
        ("cdef class B: pass\ncdef class C(B): pass\n",
         "class B: ...\nclass C: ...", "m.C: is a B, the stub says None"),
        ("MOST = 3\n", "", "m: the stub lacks MOST"),
        ("cdef enum:\n    MOST = 3\n", "MOST: int", "m: only the stub has MOST"),
        ("cdef class C:\n    def f(self): pass\n", "", None),
        ("cpdef enum E:\n    A = 1\n", "class E(IntEnum):\n    A = 1\n", None),
        ("cpdef enum E:\n    A = 1\n", "class E(IntEnum):\n    B = 1\n",
         "m.E: the stub lacks A"),
        ("def f(a=g()): pass", "def f(a: int = ...): ...", None),
        ("def f(a=g()): pass", "def f(a: int = 3): ...", "takes (a=<worked out>)"),
        ("class C:\n    def __init__(self, a):\n        self.a = a\n",
         "class C:\n    def __init__(self, a: int) -> None: ...",
         "m.C: the stub lacks a"),
    ],
)  # fmt: skip
def test_the_comparison_finds_what_differs(tmp_path, monkeypatch, pyx, pyi, complaint):
    imported = {f"m.{name}": "somewhere" for name in ("f", "MOST")}
    monkeypatch.setitem(globals(), "imported_names", lambda: imported)
    found = declared(tmp_path, pyx + "\n", pyi)
    if complaint is None:
        assert found == []
    else:
        assert complaint in "\n".join(found)


def test_what_a_declaration_file_adds_is_compared(tmp_path):
    pyx = "cdef class C:\n    def f(self): pass\n"
    pxd = "cdef class C:\n    cdef readonly int a\n    cdef int b\n"
    assert declared(tmp_path, pyx, "class C:\n    def f(self): ...\n", pxd) == [
        "m.C: the stub lacks a"
    ]


def test_every_public_stub_is_annotated():
    for path in STUBS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                where = f"{path.name}:{node.lineno} {node.name}"
                assert node.returns is not None, f"{where} does not say what it returns"
