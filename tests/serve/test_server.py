"""The server in a process of its own: slow clients, kills, swaps, and how it stops."""

import contextlib
import gc
import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

import askless
from askless.cli import main
from askless.run import Interview
from askless.serve import make_key
from tests.serve.service import Server, Thread

httpx = pytest.importorskip("httpx", reason="needs the extra serve")
pytest.importorskip("starlette", reason="needs the extra serve")


@pytest.fixture
def folder(tmp_path, car):
    (tmp_path / "policies").mkdir()
    car.save(tmp_path / "policies" / "car.json")
    return tmp_path / "policies"


def post(server, path, body, key=None):
    request = urllib.request.Request(
        server.address + path,
        json.dumps(body).encode(),
        {
            "content-type": "application/json",
            **({"idempotency-key": key} if key else {}),
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def test_it_serves_and_stops_quietly(folder):
    with Server(folder) as server:
        assert server.get("/v1/policies")["policies"][0]["name"] == "car"
        code, said = server.stop()
    assert "Askless on http://127.0.0.1" in said
    assert "Traceback" not in said
    assert code in (0, -2, 130)


def test_what_outlives_a_long_collection_is_left_alone(monkeypatch):
    from askless.serve._server import keep_pauses_short

    watch = keep_pauses_short()
    try:
        n_frozen = gc.get_freeze_count()
        assert n_frozen > 0
        many = [[i] for i in range(10_000)]
        monkeypatch.setattr("askless.serve._server.LONG_PAUSE", 1e9)
        gc.collect()
        assert gc.get_freeze_count() <= n_frozen
        monkeypatch.setattr("askless.serve._server.LONG_PAUSE", -1.0)
        gc.collect(1)
        assert gc.get_freeze_count() <= n_frozen
        gc.collect()
        assert gc.get_freeze_count() >= len(many)
    finally:
        gc.callbacks.remove(watch)
        gc.unfreeze()


def connect(server, head):
    client = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    client.sendall(head)
    return client


def test_slow_clients_are_let_go_and_others_served(car, monkeypatch):
    monkeypatch.setattr("askless.serve._server.HEAD_SECONDS", 0.3)
    whole = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with Thread([("car", car)]) as server:
        slow = [
            connect(server, b""),
            connect(server, b"GET / HT"),
            connect(server, b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nX"),
            connect(server, whole + b"GET / HT"),
        ]
        got = [b"".join(iter(lambda c=client: c.recv(1000), b"")) for client in slow]
        assert got[:3] == [b""] * 3
        assert b"alive" in got[3], "what was asked in full is answered"
        assert httpx.get(f"{server.address}/healthz").json() == {"status": "alive"}
        for client in slow:
            client.close()


def test_a_head_without_an_end_is_not_read(car):
    with Thread([("car", car)]) as server:
        client = connect(server, b"GET / HTTP/1.1\r\n")
        n_bytes = 0
        with contextlib.suppress(ConnectionError):
            while n_bytes < 50_000_000:
                client.sendall(b"x-more: " + b"y" * 60_000 + b"\r\n")
                n_bytes += 60_000
        assert n_bytes < 20_000_000
        assert httpx.get(f"{server.address}/healthz").json() == {"status": "alive"}
        client.close()


class Clicker(threading.Thread):
    """Answers cases at random, and writes down what was acknowledged."""

    def __init__(self, server, seed):
        super().__init__()
        self.server, self.seed = server, seed
        self.acknowledged = {}
        self.stop = threading.Event()

    def run(self):
        n = self.seed
        while not self.stop.is_set():
            try:
                state = post(self.server, "/v1/sessions", {"policy": "car"})
                session = state["session"]
                self.acknowledged[session] = []
                while not state["done"] and not self.stop.is_set():
                    n = (n * 75 + 74) % 65_537
                    outcomes = state["test"]["outcomes"]
                    outcome = outcomes[n % len(outcomes)]
                    state = post(
                        self.server,
                        f"/v1/sessions/{session}/answer",
                        {"outcome": outcome},
                        f"{session}-{state['step']}",
                    )
                    self.acknowledged[session].append((outcome, state["spent"]))
            except (OSError, http.client.HTTPException):
                # It was killed.
                return


def test_a_kill_loses_nothing_that_was_acknowledged(folder, tmp_path, car):
    arguments = (folder, "--db", tmp_path / "sessions.db")
    server = Server(*arguments)
    try:
        acknowledged = {}
        for round_ in range(3):
            clickers = [Clicker(server, 3 * round_ + i) for i in range(3)]
            for clicker in clickers:
                clicker.start()
            time.sleep(0.4)
            server.kill()
            for clicker in clickers:
                clicker.stop.set()
                clicker.join()
                acknowledged |= clicker.acknowledged
            server.start()
        assert sum(map(len, acknowledged.values())) > 10
        for session, steps in acknowledged.items():
            state = server.get(f"/v1/sessions/{session}")
            events = server.get(f"/v1/sessions/{session}/log")["events"]
            # One more may have been kept, whose acknowledgement was lost.
            assert len(steps) <= len(events) <= len(steps) + 1
            replayed = Interview(car)
            for number, event in enumerate(events):
                replayed.answer(event["outcome"])
                if number < len(steps):
                    assert steps[number] == (event["outcome"], replayed.session.spent)
            assert state["spent"] == replayed.session.spent
    finally:
        server.kill()


def test_it_listens_to_others_only_with_keys(folder, tmp_path):
    refused = CliRunner().invoke(main, ["serve", str(folder), "--host", "0.0.0.0"])
    assert refused.exit_code == 2
    assert "--keys must name a file of keys" in refused.output
    named = CliRunner().invoke(main, ["serve", str(folder), "--host", "example.org"])
    assert named.exit_code == 2
    nothing = CliRunner().invoke(main, ["serve"])
    assert nothing.exit_code == 2
    assert "Name a policy file" in nothing.output


def test_the_command_makes_keys(tmp_path, folder):
    made = CliRunner().invoke(main, ["serve", "--new-key"])
    assert made.exit_code == 0
    key, line = (text.split(": ", 1)[1] for text in made.output.splitlines())
    (tmp_path / "keys").write_text(line)
    with Server(folder, "--keys", tmp_path / "keys") as server:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            server.get("/v1/policies")
        request = urllib.request.Request(
            server.address + "/v1/policies", headers={"authorization": f"Bearer {key}"}
        )
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 200
    assert make_key()[0] != key


def test_without_the_extra_the_command_says_what_to_install(folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "starlette", None)
    said = CliRunner().invoke(main, ["serve", str(folder)])
    assert said.exit_code == 1
    assert "pip install 'askless[serve]'" in said.output
    with pytest.raises(askless.exceptions.MissingExtraError, match="extra 'serve'"):
        askless.serve.create_app([folder])
