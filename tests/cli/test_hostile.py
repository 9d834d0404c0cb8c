"""Names, paths and errors come from files of strangers: no terminal may obey them."""

import csv
import json
import os
import sys
import unicodedata

import pytest
from click.testing import CliRunner

import askless
from askless._text import escape_unprintable
from askless.cli import main
from askless.cli._main import COMMANDS
from askless.export import FORMATS
from tests.cli.terminal import RUN

# A title, a cleared screen, hidden text, an 8-bit control, turned text, half of a
# surrogate pair, a line that seems to be a decision.
EVIL = "\x1b]0;PWNED\x07\x1b[2J\x1b[8m\x9b1m\u202e"
FORGED = "\n=> forged"
LAMP, SOCKET = f"lamp{EVIL}{FORGED}", f"socket{EVIL}"
FUSE = f"fuse{EVIL}{FORGED}"


@pytest.fixture
def hostile(folder):
    """Return a folder of files whose names and contents are hostile."""
    rows = [
        [LAMP, SOCKET, "cause"],
        [f"dark{EVIL}", f"dead{EVIL}{FORGED}", FUSE],
        [f"dark{EVIL}", "live", f"bulb{EVIL}"],
        ["dim", "live", "dimmer"],
    ]
    with (folder / f"t{EVIL}{FORGED}.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with (folder / f"c{EVIL}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["test", "cost"], [LAMP, 1], [SOCKET, 5]])
    table = askless.read_table(folder / f"t{EVIL}{FORGED}.csv", "cause")
    askless.solve(table).policy.save(folder / f"p{EVIL}{FORGED}.json")
    return folder


def assert_harmless(text, where):
    """Check that nothing but line breaks is left that does not print."""
    found = {c for c in text if not c.isprintable() and c != "\n"}
    assert not found, f"{where}: {[unicodedata.name(c, repr(c)) for c in found]}"
    assert not any(line.startswith("=> forged") for line in text.split("\n")), where


DATA, COSTS, POLICY = f"t{EVIL}{FORGED}.csv", f"c{EVIL}.csv", f"p{EVIL}{FORGED}.json"
# Every command as it should be used, and as it should not.
# Those that run until they are stopped are tried with what they refuse.
REFUSED = [["--help"], [f"no{EVIL}{FORGED}.json"], [f"t{EVIL}{FORGED}.csv"]]
CALLS = {
    "mcp": REFUSED,
    "serve": [*REFUSED, [f"p{EVIL}{FORGED}.json", "--host", f"h{EVIL}{FORGED}"]],
    "demo": [["--folder", f"d{EVIL}{FORGED}"]],
    "solve": [
        [DATA, "--target", "cause", "--costs", COSTS, "-o", f"o{EVIL}{FORGED}.json"],
        [DATA, "--target", "cause", "--objective", "both"],
        [DATA, "--target", f"no{EVIL}{FORGED}"],
        [DATA, "--target", "cause", "--drop", f"no{EVIL}{FORGED}"],
        [DATA, "--target", "cause", "--costs", DATA],
        [DATA, "--target", "cause", "--method", f"no{EVIL}{FORGED}"],
        [DATA, "--target", "cause", "--option", f"no{EVIL}{FORGED}"],
        [DATA, "--target", "cause", "--option", f"no{EVIL}{FORGED}=1"],
        [DATA, "--target", "cause", "-o", DATA],
        [f"no{EVIL}{FORGED}.csv", "--target", "cause"],
        [".", "--target", "cause"],
    ],
    "fit": [
        [DATA, "--target", "cause", "--costs", COSTS, "-o", f"f{EVIL}{FORGED}.json"],
        [DATA, "--target", "cause", "--method", "c45"],
        [DATA, "--target", f"no{EVIL}{FORGED}"],
        [DATA, "--target", "cause", "--method", f"no{EVIL}{FORGED}"],
        [DATA, "--target", "cause", "--option", f"no{EVIL}{FORGED}=1"],
        [f"no{EVIL}{FORGED}.csv", "--target", "cause"],
    ],
    "evaluate": [
        [POLICY, DATA, "--target", "cause"],
        [POLICY, COSTS],
        [DATA, DATA],
        [POLICY, DATA, "--mistakes", f"no{EVIL}{FORGED}"],
    ],
    "decide": [
        [POLICY, DATA, "-o", f"d{EVIL}{FORGED}.csv"],
        [POLICY, DATA, "-o", f"d{EVIL}{FORGED}"],
        [POLICY, DATA, "--key", f"no{EVIL}{FORGED}"],
        [POLICY, COSTS, "-o", "d.csv"],
        [POLICY, f"no{EVIL}{FORGED}.csv"],
    ],
    "compare": [[POLICY, POLICY, DATA, "--target", "cause"], [POLICY, DATA, DATA]],
    "frontier": [
        [DATA, "--target", "cause", "--model", "tree", "--folds", "1"],
        [DATA, "--target", "cause", "-o", f"x{EVIL}{FORGED}"],
        [DATA, "--target", f"no{EVIL}{FORGED}"],
    ],
    "show": [
        [POLICY],
        [POLICY, "--as", "rules"],
        [POLICY, "--as", "svg", "-o", f"s{EVIL}{FORGED}.svg"],
        [POLICY, "--as", f"no{EVIL}{FORGED}"],
        [POLICY, "--as", "sql", "--dialect", f"no{EVIL}{FORGED}"],
        [DATA],
    ],
    "ask": [
        [POLICY],
        [POLICY, "--log", f"l{EVIL}{FORGED}.jsonl"],
        [POLICY, "--json"],
        [POLICY, "--replay", f"l{EVIL}{FORGED}.jsonl"],
        [POLICY, "--resume", DATA],
        [POLICY, "--repair", DATA],
    ],
    "methods": [[]],
    "datasets": [[], [f"no{EVIL}{FORGED}"], ["car", "-o", f"car{EVIL}{FORGED}.csv"]],
}
TYPED = f"why\nhelp\nwhat if 1\nno{EVIL}\n#1\nundo\n1\n?\n\n"


def test_every_command_is_tried():
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.parametrize("command", CALLS)
def test_no_command_passes_on_what_a_terminal_obeys(hostile, command, monkeypatch):
    monkeypatch.setenv("ASKLESS_DATA", str(hostile))
    codes = []
    for args in CALLS[command]:
        done = CliRunner().invoke(main, [command, *args], input=TYPED)
        assert isinstance(done.exception, SystemExit | None), (args, done.exception)
        assert_harmless(done.output, args)
        assert_harmless(done.stderr, args)
        codes.append(done.exit_code)
    assert codes[0] == 0 or command == "frontier", done.output
    assert set(codes) <= {0, 1, 2}


@pytest.mark.parametrize("args", [[f"no{EVIL}"], [f"--no{EVIL}"], ["show", EVIL]])
def test_wrong_usage_is_answered_without_what_was_typed(hostile, args):
    done = CliRunner().invoke(main, args)
    assert done.exit_code in (1, 2)
    assert_harmless(done.stderr, args)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("format", [f for f in sorted(FORMATS) if f != "onnx"])
def test_code_that_is_shown_on_a_terminal_is_harmless(hostile, format):
    shown = on_a_terminal([*RUN, "show", POLICY, "--as", format], hostile)
    # A terminal ends a line with both; a line break in a text of SQL is a line break.
    shown = shown.replace("\r\n", "\n").replace(FORGED, "")
    assert_harmless(shown, format)
    assert len(shown) > 20


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_model_is_not_printed_on_a_terminal(hostile):
    shown = on_a_terminal([*RUN, "show", POLICY, "--as", "onnx"], hostile)
    assert "This format is not text: write it to a file with -o." in shown


def on_a_terminal(command, folder):
    """Return everything that a program writes to a terminal."""
    import pty
    import subprocess

    ours, theirs = pty.openpty()
    # Without colours of our own.
    env = {**os.environ, "TERM": "dumb", "COLUMNS": "100"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env
    ):
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    return b"".join(parts).decode("utf-8", "replace")


def test_in_a_pipe_code_is_what_the_library_writes(hostile, run):
    policy = askless.load(hostile / POLICY)
    for format in ("sql", "python", "json"):
        done = CliRunner().invoke(main, ["show", POLICY, "--as", format])
        assert done.stdout_bytes == askless.show(policy, format).encode()


def test_machines_get_names_to_the_last_character(hostile, run):
    first = json.loads(
        CliRunner()
        .invoke(main, ["ask", POLICY, "--json"], input="quit\n")
        .stdout.split("\n")[0]
    )
    assert first["test"] in (LAMP, SOCKET)


def test_escapes_are_escaped_once():
    once = escape_unprintable(f"a\\x1b {EVIL}{FORGED}")
    assert escape_unprintable(once) == once
    assert once.isprintable()
    assert escape_unprintable("Größe 37 °C\n", keep_lines=True) == "Größe 37 °C\n"
