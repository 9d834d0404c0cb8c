"""The program itself: pipes, encodings, exit codes, an interruption, a terminal."""

import os
import signal
import subprocess
import sys

import pytest

RUN = [sys.executable, "-c", "from askless.cli import main; main(prog_name='askless')"]
INTERRUPT = """
import os, signal, askless.cli.solve as module
from askless.cli import main

def solve(*args, **options):
    os.kill(os.getpid(), signal.SIGINT)
    while True: pass

module.solve = solve
main(prog_name="askless")
"""


def start(*args, command=RUN, **options):
    env = {**os.environ, "PYTHONIOENCODING": options.pop("encoding", "utf-8")}
    return subprocess.Popen(
        [*command, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        **options,
    )


def finish(process):
    stdout, stderr = process.communicate(timeout=120)
    return process.returncode, stdout, stderr.decode()


def test_a_pipe_that_closes_early_is_no_error(policy):
    for args in (["show", policy], ["show", policy, "--as", "json"], ["methods"]):
        process = start(*args)
        process.stdout.close()
        stderr = process.stderr.read().decode()
        process.stderr.close()
        process.wait(timeout=120)
        assert stderr == "", args


def test_a_flowchart_is_plain_ascii_where_nothing_else_can_be_shown(policy):
    code, stdout, stderr = finish(start("show", policy, encoding="ascii"))
    assert (code, stderr) == (0, "")
    assert stdout.decode("ascii").splitlines()[1].startswith("|- dark")


def test_names_that_cannot_be_shown_are_no_error(folder):
    (folder / "t.csv").write_text("Röhre λ,Fehler\nan,größer\naus,kleiner\n", "utf-8")
    args = ["solve", "t.csv", "--target", "Fehler", "-o", "p.json"]
    code, stdout, stderr = finish(start(*args, encoding="latin-1"))
    assert (code, stderr) == (0, "")
    assert "Röhre ??  1\n|- an" in stdout.decode("latin-1")
    code, stdout, _ = finish(start("show", "p.json", "--as", "json", encoding="ascii"))
    assert (code, stdout) == (0, (folder / "p.json").read_bytes())
    code, stdout, _ = finish(start("show", "p.json"))
    assert "Röhre λ?  1" in stdout.decode("utf-8")


def test_exit_codes_and_streams(lamp):
    code, stdout, stderr = finish(start("solve", "no.csv", "--target", "x"))
    assert (code, stdout) == (1, b"")
    assert stderr.startswith("Error: ")
    assert "Traceback" not in stderr
    code, stdout, stderr = finish(start("solv"))
    assert (code, stdout) == (2, b"")
    assert "Did you mean 'solve'?" in stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_ctrl_c_ends_at_once_with_130(lamp):
    command = [sys.executable, "-c", INTERRUPT]
    args = ["solve", "lamp.csv", "--target", "cause", "-o", "p.json"]
    code, stdout, stderr = finish(start(*args, command=command))
    assert (code, stdout) == (130, b"")
    assert stderr.strip().startswith("Interrupted.")
    assert "Traceback" not in stderr
    assert not (lamp / "p.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals there")
def test_a_terminal_gets_colours_and_a_sign_of_life(lamp):
    import pty

    main_end, end = pty.openpty()
    args = ["solve", "lamp.csv", "--target", "cause"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen([*RUN, *args], stdout=end, stderr=end, env=env)
    os.close(end)
    shown = b""
    while True:
        try:
            part = os.read(main_end, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert process.wait(timeout=120) == 0
    os.close(main_end)
    assert b"Solving lamp.csv" in shown
    assert b"\x1b[1;32m=> bulb" in shown


def test_a_reader_that_stops_reading_ends_the_demo(folder):
    process = start("demo")
    process.stdout.readline()
    process.stdout.close()
    stderr = process.stderr.read().decode()
    process.stderr.close()
    process.wait(timeout=120)
    assert stderr == ""
    assert process.returncode != signal.SIGPIPE
