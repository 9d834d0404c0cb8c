"""What the tests of the command line share: a folder to work in, and a way to type."""

import inspect

import pytest
from click.testing import CliRunner

from askless.cli import main

LAMP = "lamp,socket,cause\ndark,dead,fuse\ndark,live,bulb\ndim,live,dimmer\n"
LAMP_COSTS = "test,cost\nlamp,1\nsocket,5\n"


def make_runner() -> CliRunner:
    # Before click 8.2 stderr is part of stdout unless told otherwise.
    if "mix_stderr" in inspect.signature(CliRunner).parameters:
        return CliRunner(mix_stderr=False)
    return CliRunner()


@pytest.fixture
def run():
    """Return a function that runs a command in this process."""

    def run_command(*args, env=None, code=0):
        typed = [str(arg) for arg in args]
        result = make_runner().invoke(main, typed, env=env, prog_name="askless")
        unexpected = result.exception
        if unexpected and not isinstance(unexpected, SystemExit):
            raise unexpected
        assert result.exit_code == code, result.stdout + result.stderr
        return result

    return run_command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def lamp(folder):
    """Return a folder with lamp.csv and lamp.costs.csv."""
    (folder / "lamp.csv").write_text(LAMP)
    (folder / "lamp.costs.csv").write_text(LAMP_COSTS)
    return folder


@pytest.fixture
def policy(lamp, run):
    """Return the file of a policy for the lamp."""
    run(
        "solve",
        "lamp.csv",
        "--target",
        "cause",
        "--costs",
        "lamp.costs.csv",
        "-o",
        "lamp.json",
        "--quiet",
    )
    return lamp / "lamp.json"
