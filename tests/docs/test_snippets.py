"""Every command that a page shows is run as it stands, and shows what the page says.

Python snippets are doctests of their own; here are the blocks marked ``console``, with
``$`` before a command and its output below, ``...`` for what is left out, and ``>``
before what is typed. A comment
``<!-- file: NAME -->`` makes the block after it a file of the page's folder.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import askless
from askless.solve import METHODS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if not {"_build", "generated"} & set(path.relative_to(ROOT).parts)
)
FENCE = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    return list(FENCE.finditer(page.read_text(encoding="utf-8")))


def commands(body):
    """Return each command with what is typed to it and the output that is shown."""
    found = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], [], []))
        elif line.startswith("> "):
            found[-1][1].append(line[2:])
        else:
            assert found, f"a console block must begin with a command, not {line!r}"
            found[-1][2].append(line)
    return found


def run(command, typed, folder):
    """Run a command as a shell would, with the Askless of this interpreter."""
    env = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        input="".join(f"{line}\n" for line in typed),
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout


@pytest.mark.skipif(os.name == "nt", reason="the pages are written for a shell")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(b["kind"] == "console" for b in blocks(page))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_commands_show_what_the_page_says(page, tmp_path):
    for block in blocks(page):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["body"], encoding="utf-8")
        elif block["kind"] == "console":
            for command, typed, lines in commands(block["body"]):
                shown = "\n".join(lines)
                code, output = run(command, typed, tmp_path)
                expected_code = 1 if shown.startswith("Error: ") else 0
                assert code == expected_code, f"$ {command}\n{output}"
                same = doctest.OutputChecker().check_output(f"{shown}\n", output, FLAGS)
                assert same, f"$ {command}\nexpected:\n{shown}\ngot:\n{output}"


def test_no_command_hides_in_a_block_that_is_not_run():
    plain = [
        (page, block)
        for page in PAGES
        for block in blocks(page)
        if block["kind"] in ("", "text", "sh", "bash", "shell")
    ]
    assert plain
    for page, block in plain:
        assert "$ askless" not in block["body"], page
        assert not block["body"].startswith("askless "), page


def test_every_method_has_a_page():
    listed = (ROOT / "docs" / "methods" / "index.md").read_text(encoding="utf-8")
    pages = {
        path.stem: path.read_text(encoding="utf-8")
        for path in (ROOT / "docs" / "methods").glob("*.md")
    }
    estimators = [
        name
        for name in askless.learn.__all__
        if name in askless.__all__ and name.endswith(("Classifier", "Ensemble"))
    ]
    for name in [*METHODS, *estimators]:
        found = [stem for stem, text in pages.items() if text.startswith(f"# {name}\n")]
        assert len(found) == 1, f"{name} needs a page in docs/methods"
        assert f"({found[0]}.md)" in listed, f"{name} is not in the list of methods"
        for part in ("Idea", "Guarantee", "Cost", "Use it", "Do not use it"):
            assert f"**{part}" in pages[found[0]], f"{found[0]}.md does not say: {part}"
