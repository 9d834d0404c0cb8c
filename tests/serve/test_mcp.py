"""A language model's client finishes interviews by tools, over a pipe and over HTTP."""

import asyncio
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import askless
from askless.cli import main
from tests.policy.examples import EXAMPLES, make_example
from tests.serve.service import Thread

mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
pytest.importorskip("mcp.server.mcpserver", reason="needs mcp 2 or newer")
pytest.importorskip("starlette", reason="needs the extra serve")

TOOLS = {"list_policies", "describe_tests", "next_test", "explain", "decide"}


async def call(client, tool, **arguments):
    """Return what a tool says; an error as its text."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        return result.content[0].text
    return result.structured_content


async def finish(client, policy, choose):
    """Let a client ask to the end; return all answers and the last state."""
    answers = []
    state = await call(client, "next_test", policy=policy, answers=answers)
    while not state["done"]:
        test = state["test"]
        answers.append({"test": test["name"], "outcome": choose(test)})
        state = await call(client, "next_test", policy=policy, answers=answers)
    return answers, state


def choose_last(test):
    if test["kind"] == "category":
        return test["outcomes"][-1]
    return (test["compared"] or {"to": 0})["to"] + 1


def check(policy, answers, state):
    session = policy.start()
    given = {answer["test"]: answer["outcome"] for answer in answers}
    while session.test is not None:
        session.answer(given[session.test])
    assert state["decision"] == session.decision
    assert state["spent"] == pytest.approx(session.spent)


@pytest.mark.skipif(
    "ASKLESS_SANITIZED" in os.environ,
    reason="its client starts Python without the sanitizer",
)
def test_over_a_pipe(car, tmp_path):
    car.save(tmp_path / "car.json")
    server = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "askless", "mcp", str(tmp_path)]
    )

    async def talk():
        async with mcp.Client(mcp.stdio_client(server)) as client:
            tools = await client.list_tools()
            assert {tool.name for tool in tools.tools} == TOOLS
            assert all(tool.description for tool in tools.tools)
            listed = await call(client, "list_policies")
            assert [policy["name"] for policy in listed["policies"]] == ["car"]
            return await finish(client, "car", choose_last)

    check(car, *asyncio.run(talk()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_over_http(name):
    policy = make_example(name)
    with Thread([("it", policy)]) as server:

        async def talk():
            async with mcp.Client(f"{server.address}/mcp") as client:
                return await finish(client, "it", choose_last)

        check(policy, *asyncio.run(talk()))


def test_what_is_wrong_is_told(car):
    with Thread([("car", car)]) as server:

        async def talk():
            async with mcp.Client(f"{server.address}/mcp") as client:
                wrong = {"test": "cranking", "outcome": "purple"}
                said = [
                    await call(client, "next_test", policy="cat", answers=[]),
                    await call(client, "next_test", policy="car", answers=[wrong]),
                    await call(
                        client, "next_test", policy="car", answers=[{"test": "?"}]
                    ),
                    await call(
                        client,
                        "next_test",
                        policy="car",
                        answers=[{"test": "cranking", "outcome": [1]}],
                    ),
                    await call(client, "decide", policy="car", rows=[{}] * 10_001),
                    await call(
                        client, "next_test", policy="car", answers=[wrong] * 2_001
                    ),
                ]
                told = await call(client, "explain", policy="car", answers=[])
                rows = await call(
                    client, "decide", policy="car", rows=[{"cranking": "fast"}]
                )
                tests = await call(client, "describe_tests", policy="car")
                return said, told, rows, tests

        said, told, rows, tests = asyncio.run(talk())
    for text, words in zip(
        said,
        ["Did you mean 'car'", "shows one of 'fast'", "must name a test",
         "must be text, a number", "at most 10000 rows", "at most 2000 answers"],
        strict=True,
    ):  # fmt: skip
        assert words in text
        assert "Traceback" not in text
    assert told["why"].startswith("'cranking' costs 1")
    assert len(told["branches"]) == 4
    assert rows["rows"] == [{"decision": "new timing belt", "cost": 1.0}]
    assert len(tests["tests"]) == 28


def test_without_the_extra_the_command_says_what_to_install(tmp_path, car, monkeypatch):
    car.save(tmp_path / "car.json")
    monkeypatch.delitem(sys.modules, "askless.serve._mcp", raising=False)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    said = CliRunner().invoke(main, ["mcp", str(tmp_path)])
    assert said.exit_code == 1
    assert "pip install 'askless[mcp]'" in said.output
    # And a service has no tools then, but all else.
    app = askless.serve.create_app([tmp_path])
    assert "/mcp" not in {route.path for route in app.app.routes}


def test_nothing_but_the_protocol_is_printed(tmp_path, car):
    car.save(tmp_path / "car.json")
    ran = subprocess.run(
        [sys.executable, "-m", "askless", "mcp", str(tmp_path)],
        input=b"",
        capture_output=True,
        timeout=60,
    )
    assert ran.stdout == b""
    assert ran.returncode == 0
