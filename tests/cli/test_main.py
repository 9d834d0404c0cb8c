"""The group of commands: help, suggestions, errors, notes and exit codes."""

import warnings
from importlib.metadata import version

import click
import pytest

from askless.cli import main
from askless.exceptions import AsklessWarning, InvalidTableError

COMMANDS = [
    "demo",
    "solve",
    "fit",
    "evaluate",
    "decide",
    "compare",
    "frontier",
    "show",
    "ask",
    "serve",
    "mcp",
    "methods",
    "datasets",
]


@pytest.fixture
def failing():
    """Return a function that adds a command which raises; it is removed afterwards."""

    def add(error):
        @main.command("fail")
        def fail():
            raise error

    yield add
    main.commands.pop("fail")


def test_the_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"askless, {version('askless')}\n".replace(
        ",", ""
    )


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_says_what_it_does_and_lists_the_commands_in_order(run, option):
    shown = run(option).stdout
    assert "Ask less, decide right." in shown
    listed = [
        line.split()[0] for line in shown.split("Commands:")[1].splitlines() if line
    ]
    assert listed[: len(COMMANDS)] == COMMANDS
    assert "askless demo" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run, command):
    shown = run(command, "--help").stdout
    assert shown.startswith(f"Usage: askless {command}")
    assert "..." not in run("--help").stdout.split("Commands:")[1]


def test_a_wrong_command_gets_a_suggestion(run):
    result = run("solv", code=2)
    assert "There is no command 'solv'. Did you mean 'solve'?" in result.stderr
    assert result.stdout == ""


def test_a_command_like_no_other_gets_the_list(run):
    result = run("xyz", code=2)
    assert f"The commands are {', '.join(COMMANDS)}." in result.stderr


def test_a_wrong_option_gets_a_suggestion(run):
    result = run("solve", "x.csv", "--targte", "y", code=2)
    assert "--target" in result.stderr.split("Error:")[1]


def test_an_error_is_told_in_its_own_words_without_a_traceback(run, failing):
    failing(InvalidTableError("Rule. Got this. Do that."))
    result = run("fail", code=1)
    assert result.stderr == "Error: Rule. Got this. Do that.\n"
    assert result.stdout == ""


def test_a_long_error_stays_on_one_line_in_a_pipe(run, failing):
    failing(InvalidTableError("word " * 60 + "end."))
    assert run("fail", code=1).stderr.count("\n") == 1


def test_signs_of_markup_in_an_error_are_printed_as_they_are(run, failing):
    failing(InvalidTableError("Got '[bold]x[/bold]' and :smile:."))
    assert "Got '[bold]x[/bold]' and :smile:." in run("fail", code=1).stderr


def test_ctrl_c_ends_with_130(run, failing):
    failing(KeyboardInterrupt())
    result = run("fail", code=130)
    assert result.stderr.startswith("Interrupted.")


def test_an_error_of_the_system_has_no_traceback(run, failing):
    failing(OSError(28, "No space left on device"))
    result = run("fail", code=1)
    assert result.stderr.startswith("Error: Files and pipes must be readable")
    assert "No space left on device" in result.stderr


def test_a_warning_of_the_library_becomes_a_note(run):
    @main.command("warn")
    def warn():
        warnings.warn("All is alike.", AsklessWarning, stacklevel=1)
        click.echo("done")

    try:
        result = run("warn")
    finally:
        main.commands.pop("warn")
    assert result.stdout == "done\n"
    assert result.stderr == "Note: All is alike.\n"


def test_another_warning_stays_what_it_is(run):
    @main.command("warn")
    def warn():
        warnings.warn("Old.", DeprecationWarning, stacklevel=1)

    try:
        with pytest.raises(DeprecationWarning, match=r"Old\."):
            run("warn")
    finally:
        main.commands.pop("warn")
