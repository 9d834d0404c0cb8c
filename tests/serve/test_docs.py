"""What the page on serving shows is run, and the container runs without rights."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import askless
from tests.serve.service import Thread

pytest.importorskip("starlette", reason="needs the extra serve")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/serve.md"
CLIENT = ROOT / "docs/how-to/client.py"
# A block of curl commands, and the one after it with what they print.
SHOWN = re.compile(r"```sh\n(curl.*?)```\n\n```text\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def server():
    table = askless.Table(
        {"lamp": ["dark", "dark", "dim"], "socket": ["dead", "live", "live"]},
        ["fuse", "bulb", "dimmer"],
        costs={"lamp": 1, "socket": 5},
    )
    with Thread([("lamp", askless.solve(table).policy)]) as server:
        yield server


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
@pytest.mark.parametrize(
    ("commands", "shown"), SHOWN.findall(PAGE.read_text("utf-8")), ids=range(3)
)
def test_curl_shows_what_the_page_says(server, tmp_path, commands, shown):
    script = commands.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    # Without what is loaded into every program to watch kernels: curl waits for ever.
    alone = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    ran = subprocess.run(
        ["sh", "-ec", script],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, env=alone,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    # The page breaks long lines, and leaves some things out.
    got, want = (re.sub(r"\s", "", text) for text in (ran.stdout, shown))
    same = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
    assert same, ran.stdout


def test_the_client_asks_to_the_end(server):
    ran = subprocess.run(
        [sys.executable, CLIENT, server.address, "lamp"],
        input="purple\ndark\nlive\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "shows one of 'dark', 'dim'" in ran.stdout
    assert ran.stdout.endswith("=> bulb  (spent 6)\n")


def test_the_client_can_all_that_it_says(server, monkeypatch):
    monkeypatch.syspath_prepend(str(CLIENT.parent))
    import client

    service = client.Service(server.address)
    assert [policy["name"] for policy in service.policies()] == ["lamp"]
    state = service.next("lamp", [{"test": "lamp", "outcome": "dark"}], ["why"])
    assert state["why"].startswith("'socket' costs 5")
    assert service.decide("lamp", [{"lamp": "dim"}])[0]["decision"] == "dimmer"
    session = service.begin("lamp")
    session.skip()
    session.undo()
    session.answer("dim")
    assert session.state["decision"] == "dimmer"
    with pytest.raises(client.ServiceError, match="must be a test to answer") as told:
        session.answer("dim")
    assert told.value.status == 422
    with pytest.raises(client.ServiceError, match="must be one of those"):
        service.begin("nothing")
    assert len(CLIENT.read_text().splitlines()) < 120


def test_the_container_runs_without_rights():
    text = (ROOT / "Containerfile").read_text("utf-8")
    # What runs has no compiler, and so not the library that kernels need.
    assert "libgomp1" in text.rpartition("FROM ")[2]
    last = text.rpartition("\nFROM ")[2]
    user = re.search(r"^USER (\d+):(\d+)$", last, re.MULTILINE)
    assert int(user[1]) > 0
    after = last[user.end() :]
    assert not re.search(r"^(RUN|USER|COPY|ADD) ", after, re.MULTILINE)
    # What it starts is a command that there is, with keys.
    words = re.findall(r'"([^"]+)"', after.partition("ENTRYPOINT")[2])
    assert words[:2] == ["askless", "serve"]
    assert "--keys" in words
    from askless.cli.serve import serve_command

    known = {name for option in serve_command.params for name in option.opts}
    assert {word for word in words if word.startswith("--")} <= known
