"""Public names can be found: listed in order, importable, and shown by an example."""

import importlib
import inspect
import pkgutil

import pytest

import askless

SUBPACKAGES = sorted(
    module.name
    for module in pkgutil.iter_modules(askless.__path__, "askless.")
    if module.ispkg and not module.name.split(".")[-1].startswith("_")
)


def is_class_or_function(name: str) -> bool:
    value = getattr(askless, name, None)
    return inspect.isclass(value) or inspect.isroutine(value)


EXPLAINED = [name for name in askless.__all__ if is_class_or_function(name)]


def test_names_are_sorted():
    assert list(askless.__all__) == sorted(set(askless.__all__))


@pytest.mark.parametrize("name", askless.__all__)
def test_each_name_can_be_imported(name):
    assert hasattr(askless, name), f"askless.__all__ lists {name}, which is not there"


@pytest.mark.parametrize("name", EXPLAINED)
def test_each_class_and_function_has_an_example(name):
    docstring = getattr(askless, name).__doc__ or ""
    assert ">>>" in docstring, f"the docstring of askless.{name} needs an example"


def test_subpackages_are_found():
    assert "askless.problem" in SUBPACKAGES


@pytest.mark.parametrize("package", SUBPACKAGES)
def test_each_subpackage_lists_its_names(package):
    module = importlib.import_module(package)
    assert hasattr(module, "__all__"), f"{package} needs an __all__"
    assert list(module.__all__) == sorted(set(module.__all__))
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing, f"{package}.__all__ lists {missing}, not there"
