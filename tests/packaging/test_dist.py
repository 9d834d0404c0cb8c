"""What is published holds what users need, and nothing else."""

import pytest

from tests.packaging.scripts import ROOT, load_script

dist = load_script("dist_test")
SO = ".cpython-311-x86_64-linux-gnu.so"


def whole_wheel():
    """Return the names that a wheel of this checkout should hold."""
    package = ROOT / "src"
    names = ["askless-0.1.0.dist-info/METADATA", f"askless/_core/_cyutility{SO}"]
    for path in package.rglob("*"):
        name = path.relative_to(package).as_posix()
        if path.suffix == ".pyx":
            names.append(name.removesuffix(".pyx") + SO)
        elif path.suffix in dist.KEPT:
            names.append(name)
    return names


def test_a_whole_wheel_is_fine():
    assert dist.stray_in_wheel(whole_wheel()) == []
    assert dist.missing_in_wheel(whole_wheel()) == []


@pytest.mark.parametrize(
    "name",
    [
        "tests/conftest.py",
        "askless/tests/test_a.py",
        "askless/test_a.py",
        "askless/_core/tree/_walk.pyx",
        "askless/_core/tree/_store.pxd",
        "askless/_core/tree/walk.h",
        "askless/_core/meson.build",
        "askless/__pycache__/a.pyc",
        "askless/notes.md",
        "other/__init__.py",
        "askless-0.1.0.data/scripts/a.py",
    ],
)
def test_what_a_wheel_must_not_hold_is_found(name):
    assert dist.stray_in_wheel([*whole_wheel(), name]) == [name]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("askless/py.typed", "askless/py.typed"),
        ("askless/export/page.html", "askless/export/page.html"),
        ("askless/_core/tree/_walk.pyi", "askless/_core/tree/_walk.pyi"),
        (f"askless/_core/tree/_walk{SO}", "askless/_core/tree/_walk (compiled)"),
    ],
)
def test_what_a_wheel_lacks_is_found(name, said):
    names = [kept for kept in whole_wheel() if kept != name]
    assert dist.missing_in_wheel(names) == [said]


def test_what_an_archive_lacks_or_must_not_hold_is_found():
    whole = [f"askless-0.1.0/{name}" for name in dist.NEEDED]
    assert dist.wrong_in_sdist(whole) == []
    assert dist.wrong_in_sdist(whole[1:]) == [f"lacks {dist.NEEDED[0]}"]
    stray = [".venv/bin/python", "build/a", "dist/a.whl", "src/askless/a.so", "a.pyc"]
    names = whole + [f"askless-0.1.0/{name}" for name in stray]
    assert dist.wrong_in_sdist(names) == [f"holds {name}" for name in sorted(stray)]


def test_what_an_archive_needs_is_in_the_checkout():
    for name in dist.NEEDED:
        # Written while the archive is packed.
        assert name == "PKG-INFO" or (ROOT / name).exists(), name
