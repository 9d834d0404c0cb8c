"""Small functions, few arguments, folders one can read: limits, and who is over them.

What is over a limit today is listed by name. The lists may only shrink: a name that no
longer belongs there fails the test, and so does a new one that does.
"""

from pathlib import Path

import pytest

from tests.packaging.scripts import load_script

sizes = load_script("sizes")

MOST_LINES = 60
MOST_ARGUMENTS = 12
MOST_FILES = 22

LONG: set[str] = set()
MANY_ARGUMENTS: set[str] = set()
FULL_FOLDERS: set[str] = set()


def test_no_function_is_too_long():
    assert {f.key for f in sizes.all_functions() if f.n_lines > MOST_LINES} == LONG


def test_no_function_takes_too_many_arguments():
    # A public constructor lists what users may choose; scikit-learn wants it flat.
    found = {
        f.key
        for f in sizes.all_functions()
        if f.n_arguments > MOST_ARGUMENTS and not f.is_constructor
    }
    assert found == MANY_ARGUMENTS


def test_no_folder_is_too_full():
    found = {name for name, n in sizes.files_by_folder().items() if n > MOST_FILES}
    assert found == FULL_FOLDERS


# That the measures measure.

PYTHON = '''
"""A docstring
of two lines."""


class Shop:
    """A shop."""

    def __init__(self, a, *, b=1, **more):
        """Say what it is."""
        # A comment.
        self.a = a

        self.text = """two
        lines"""


class _Hidden:
    def __init__(self, a):
        def inner():
            return a
'''

CYTHON = '''
cdef extern from "a.h":
    """
    void f(void) {}
    """
    int declared(int a, int b) nogil


cdef class Heap:
    """A heap. def nothing(a, b): pass"""

    cdef int n

    def __init__(
        self,
        const double[:, ::1] keys not None,  # IN (n, 2), "a"
        *,
        int room=8,
    ):
        """Make one."""
        self.n = 0

        self.room = room

    cdef inline int top(self, int* (*f)(int, int)) noexcept nogil:
        if self.n:  # a comment
            return 1
        return 0


cpdef double add(double a, double b=f(1, 2)):
    return a + b


def last(): return 3
'''


def measured(read, source):
    return {
        f.name: (f.n_lines, f.n_arguments, f.is_constructor) for f in read(source, "a")
    }


def test_python_functions_are_measured():
    assert measured(sizes.python_functions, PYTHON) == {
        "Shop.__init__": (4, 3, True),
        "_Hidden.__init__": (3, 1, False),
        "_Hidden.__init__.inner": (2, 0, False),
    }


def test_cython_functions_are_measured():
    assert measured(sizes.cython_functions, CYTHON) == {
        "Heap.__init__": (8, 2, False),
        "Heap.top": (4, 1, False),
        "add": (2, 2, False),
        "last": (1, 0, False),
    }


def test_every_def_of_a_kernel_is_measured():
    # Cython's own parser sees the same functions, in as many files as there are.
    pytest.importorskip("Cython")
    from tests.declarations import read_cython

    for path in sizes.source_files(".pyx"):
        declared = read_cython(path)
        found = sizes.cython_functions(path.read_text(encoding="utf-8"), path.name)
        measured = {f.name: f.n_arguments for f in found}
        for name, parameters in declared.functions.items():
            assert measured[name] == len(parameters), f"{path.name}: {name}"


def test_a_kernel_with_its_stub_counts_as_one_file(tmp_path):
    for name in ("a.py", "room/_k.pyx", "room/_k.pxd", "room/_k.pyi", "room/k.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sizes.files_by_folder(tmp_path) == {".": 1, "room": 2}


@pytest.mark.parametrize("n_same", [5, 6, 9])
def test_equal_runs_of_lines_are_found_once(tmp_path, n_same):
    same = [f"    call({i})" for i in range(n_same)]
    for name in ("a", "b"):
        lines = [f"def {name}():", f"    begin_{name}()", *same, f"    end_{name}()"]
        # Comments and blank lines do not hide what is the same.
        lines[3:3] = ["", f"    # {name}"] if name == "b" else []
        Path(tmp_path, f"{name}.py").write_text("\n".join(lines) + "\n")
    runs = sizes.same_lines(sorted(tmp_path.glob("*.py")), 6)
    assert runs == ([("a.py:3", "b.py:3", n_same)] if n_same >= 6 else [])


def test_imports_are_not_said_twice(tmp_path):
    names = "".join(f"    name_{i},\n" for i in range(9))
    for name in ("a", "b"):
        text = f"from somewhere import (\n{names})\n\n{name} = name_1(\n    1\n)\n"
        Path(tmp_path, f"{name}.py").write_text(text)
    assert sizes.same_lines(sorted(tmp_path.glob("*.py")), 6) == []


def test_a_declaration_and_its_body_are_one(tmp_path):
    lines = "".join(f"    cdef int call_{i}(self)\n" for i in range(9))
    for name in ("a.pyx", "a.pxd"):
        Path(tmp_path, name).write_text(f"cdef class A:\n{lines}")
    assert sizes.same_lines(sorted(tmp_path.iterdir()), 6) == []
