"""Help comes at once: a command is imported when it is run, and no sooner."""

import subprocess
import sys

import pytest

import askless
from askless.cli import main
from askless.cli._main import COMMANDS

HEAVY = {"sklearn", "scipy", "pandas", "numpy", "rich"}


def modules_after(code):
    """Return the packages that a fresh process has imported after some code."""
    code += "\nimport sys; print(*{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(run.stdout.splitlines()[-1].split())


def test_help_waits_for_nothing_heavy():
    code = "from askless.cli import main\nmain(['--help'], standalone_mode=False)"
    assert not modules_after(code) & HEAVY


@pytest.mark.parametrize("command", ["show", "solve", "evaluate"])
def test_commands_that_learn_nothing_do_not_wait_for_scikit_learn(command):
    code = (
        "from askless.cli import main\n"
        f"main(['{command}', '--help'], standalone_mode=False)"
    )
    assert not modules_after(code) & {"sklearn", "scipy", "pandas"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_says_what_the_commands_say(name):
    command = main.get_command(None, name)
    assert (command.name, command.short_help) == (name, COMMANDS[name])


@pytest.mark.parametrize("name", ["solve", "evaluate"])
def test_a_function_is_not_hidden_by_the_package_it_lives_in(name):
    code = (
        f"import askless.{name}, askless\n"
        f"assert callable(askless.{name})\n"
        f"from askless import {name}\n"
        f"assert callable({name})\n"
        f"from askless.{name} import {name} as again\n"
        f"assert again is {name}"
    )
    modules_after(code)


def test_every_name_is_found_and_no_other():
    assert set(askless.__all__) <= set(dir(askless))
    assert askless.learn.GreedyTreeClassifier is askless.GreedyTreeClassifier
    with pytest.raises(AttributeError, match="has no attribute 'solv'"):
        _ = askless.solv


def test_every_name_of_the_learners_is_found_and_no_other():
    from askless import learn

    assert sorted(learn.__all__) == sorted(learn._HOMES)
    assert all(getattr(learn, name) is not None for name in learn.__all__)
    assert dir(learn) == sorted(learn.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'GreedyTree'"):
        _ = learn.GreedyTree
