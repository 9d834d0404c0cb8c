"""Tools for language models: the policies over the Model Context Protocol.

Nothing is kept between two calls: a model gives all answers so far. What is wrong with
a call is told to the model, so that it can mend it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, TypeVar

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from askless.exceptions import AsklessError
from askless.serve._asker import Asker, describe_policy

__all__ = ["create_mcp"]

INSTRUCTIONS = (
    "Decide a case by asking as little as possible. Call list_policies, then next_test "
    "with an empty list of answers. Run the test it names, or ask the user for it, add "
    "the outcome to the answers, and call next_test again with all of them, until "
    "`done` is true; then `decision` is the result. Tests cost what `price` says, so "
    "run only the test that is named. Never make up an outcome: if it is not known, "
    'answer {"test": ..., "unsure": true}, or {"test": ..., "skipped": true} if the '
    "test was not run."
)
MAX_ANSWERS = 2_000
MAX_ROWS = 10_000
Result = TypeVar("Result")


def create_mcp(asker: Asker) -> MCPServer[Any]:
    """Return a server of tools that ask by policies.

    Parameters
    ----------
    asker : Asker
        What answers.
    """
    server: MCPServer[Any] = MCPServer(
        "askless",
        title="Askless",
        instructions=INSTRUCTIONS,
        version=version("askless"),
        log_level="WARNING",
    )

    @server.tool()
    async def list_policies() -> dict[str, Any]:
        """List the policies: what each can decide, and what all of its tests cost."""
        return await _run(lambda: {"policies": asker.list()})

    @server.tool()
    async def describe_tests(policy: str) -> dict[str, Any]:
        """Tell the tests of a policy with their prices and outcomes, and its classes.

        Args:
            policy: The name of a policy.
        """
        return await _run(lambda: describe_policy(asker.find(policy)))

    @server.tool()
    async def next_test(policy: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
        """Tell which test to run next, or the decision if `done` is true.

        Args:
            policy: The name of a policy.
            answers: All answers so far, in any order. Each is {"test": name,
                "outcome": value}, {"test": name, "unsure": true} if the test was run
                and is not clear, or {"test": name, "skipped": true} if it was not run.
        """
        return await _run(lambda: asker.next(asker.find(policy), _checked(answers)))

    @server.tool()
    async def explain(policy: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
        """Tell why the next test is asked, what each outcome leads to, what is likely.

        Args:
            policy: The name of a policy.
            answers: All answers so far, as for next_test.
        """
        include = ("why", "branches", "decision_now", "left_at_worst", "shares")
        return await _run(
            lambda: asker.next(asker.find(policy), _checked(answers), include)
        )

    @server.tool()
    async def decide(policy: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """Decide cases of which every outcome is known, and tell what each pays.

        Args:
            policy: The name of a policy.
            rows: For each case, the outcome of each test by its name.
        """
        if len(rows) > MAX_ROWS:
            raise ToolError(f"There must be at most {MAX_ROWS} rows. Send fewer.")
        return await _run(lambda: {"rows": asker.decide(asker.find(policy), rows)})

    return server


def _checked(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(answers) > MAX_ANSWERS:
        raise ToolError(f"There must be at most {MAX_ANSWERS} answers. Send fewer.")
    for answer in answers:
        outcome = answer.get("outcome")
        if outcome is not None and not isinstance(outcome, (str, int, float)):
            raise ToolError(
                "An outcome must be text, a number or a truth value. Got "
                f"{type(outcome).__name__} for {answer.get('test')!r}. Say what the "
                "test showed."
            )
    return answers


async def _run(work: Callable[[], Result]) -> Result:
    """Do some work aside; what is wrong with the call is told to the model."""
    try:
        return await anyio.to_thread.run_sync(work)
    except AsklessError as error:
        raise ToolError(str(error)) from error
