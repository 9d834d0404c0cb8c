"""The reference lists every public name once, and no other."""

import importlib
import inspect
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest

import askless
from askless.exceptions import MissingExtraError

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
# Modules of their own, since each needs an engine that few have.
ENGINES = ["askless.scale.dask", "askless.scale.ray", "askless.scale.spark"]
HOMES = ENGINES + sorted(
    module.name
    for module in pkgutil.iter_modules(askless.__path__, "askless.")
    if not module.name.split(".")[-1].startswith("_")
)


def listed_names():
    """Return the full name of each entry of the page."""
    names, home, is_list = [], "", False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            home = found[1]
        if found := re.fullmatch(r"\.\. py:data:: (\w+)", line):
            names.append(f"{home}.{found[1]}")
        if line and not line.startswith(" "):
            is_list = line == ".. autosummary::"
        elif is_list and (entry := re.fullmatch(r"   ([\w.]+)", line)):
            names.append(f"{home}.{entry[1]}")
    return names


def public_names():
    """Return the full name of each public name, the shortest where there are two."""
    short = {
        f"askless.{name}"
        for name in askless.__all__
        if not inspect.ismodule(getattr(askless, name))
    }
    return short | {
        f"{home}.{name}"
        for home in HOMES
        for name in importlib.import_module(home).__all__
        if f"askless.{name}" not in short
    }


def test_the_page_and_the_packages_are_read():
    assert {"askless.Table", "askless.run.Interview"} <= set(listed_names())
    assert {"askless.problem", "askless.run", "askless.exceptions"} <= set(HOMES)


def test_every_public_name_has_an_entry():
    absent = sorted(public_names() - set(listed_names()))
    assert not absent, f"docs/reference.md needs an entry for {absent}"


def test_every_entry_is_a_public_name():
    strange = sorted(set(listed_names()) - public_names())
    assert not strange, f"docs/reference.md lists {strange}, which are not public"


def test_no_name_is_listed_twice():
    twice = [name for name, count in Counter(listed_names()).items() if count > 1]
    assert not twice


@pytest.mark.parametrize("name", listed_names())
def test_every_entry_says_what_it_is(name):
    home, _, last = name.rpartition(".")
    try:
        value = getattr(importlib.import_module(home), last)
    except MissingExtraError as error:
        pytest.skip(str(error))
    if inspect.isclass(value) or inspect.isroutine(value):
        assert inspect.getdoc(value), f"{name} needs a docstring"
