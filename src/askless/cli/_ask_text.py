"""Interview a person: questions, answers and the end, as lines of text.

It shows what the library says and passes on what is typed. It must not know how the
next test is chosen.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click
from rich.text import Text

from askless.cli._output import format_number, format_share, open_console
from askless.exceptions import InvalidAnswerError
from askless.run import Branch, Interview, Session, read_reply
from askless.run._reply import numbers_choices

__all__ = ["print_end", "print_path", "talk"]

# Decisions that are named before the rest is only counted.
MOST_LIKELY = 3
# Branches that are listed before the rest is only counted.
MOST_BRANCHES = 24

HELP = """\
Answer with the name of an outcome, the beginning of it, or its number in the list; with
the number that was measured where a number is asked for. Or type
  ?  don't know   the test was run, and what it shows is not clear; it is paid for
  s  skip         the test is not run, and not paid for
  u  undo         take back the last answer
  w  what if 2    see what would follow, without answering
  y  why          why this test is asked
  q  quit         leave; the log can be resumed
If an outcome is called like a command, put a colon before the command, as in :skip; or
a # before a number of the list, as in #2."""


class Left(Exception):
    """The interview was left before its end."""


def talk(interview: Interview) -> None:
    """Ask until the policy decides and nothing is taken back.

    Raises
    ------
    Left
        If there are no more answers, or quit was typed.
    """
    print_question(interview)
    for typed in _typed_lines():
        if not typed.strip():
            if interview.is_over:
                return
            continue
        try:
            has_moved = _act(interview, typed)
        except InvalidAnswerError as error:
            _say(str(error), style="red")
            has_moved = False
        if has_moved:
            print_question(interview)
    if not interview.is_over:
        raise Left


def _act(interview: Interview, typed: str) -> bool:
    """Do what was typed; return whether there is something new to show."""
    reply = read_reply(interview.session, typed)
    if reply.kind == "answer":
        interview.answer(reply.outcome)
    elif reply.kind == "unsure":
        interview.unsure()
    elif reply.kind == "skip":
        interview.skip()
    elif reply.kind == "undo":
        interview.undo()
    elif reply.kind == "what if":
        _print_what_if(interview, reply.outcome)
        return False
    elif reply.kind == "why":
        _say(interview.session.why(), style="italic")
        return False
    elif reply.kind == "help":
        click.echo(HELP)
        return False
    else:
        if interview.is_over:
            raise EOFError
        raise Left
    return True


def _typed_lines() -> Iterator[str]:
    """Yield what is typed, line by line, until the end of the input."""
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        # Lets arrow keys move in the line.
        with suppress(ImportError):
            import readline  # noqa: F401
    while True:
        if is_terminal:
            sys.stdout.flush()
            try:
                line = input("> ")
            except EOFError:
                click.echo()
                return
        else:
            line = sys.stdin.readline()
            if not line:
                return
        yield line


# Questions.


def print_question(interview: Interview) -> None:
    """Print the next test with its price and what it is for, or the decision."""
    session = interview.session
    if interview.is_over:
        print_end(interview)
        if sys.stdin.isatty():
            _say("Enter to finish, or undo.", style="dim")
        return
    number = len({entry["test"] for entry in session.log}) + 1
    console = open_console()
    title = Text.assemble(
        f"\n{number}. ",
        (f"{session.test}?", "bold"),
        f"  costs {_price(session)}",
        style="",
    )
    console.print(title, soft_wrap=True)
    _say(f"   {_describe_money(session)}  {_describe_likely(session)}", style="dim")
    if len(session.ordered) > 1:
        others = ", ".join(session.ordered[1:])
        _say(f"   Its result comes late, so these are ordered with it: {others}.")
    branches = session.branches()
    _say(f"   {_describe_purpose(session, branches)}", style="dim")
    for row in _list_choices(session, branches):
        console.print(row, soft_wrap=True)


def _price(session: Session) -> str:
    price, most = session.price, session.price_at_most
    if most > price:
        return f"{format_number(price)} to {format_number(most)}"
    return format_number(price)


def _describe_money(session: Session) -> str:
    spent, left = format_number(session.spent), format_number(session.left_at_worst)
    return f"Spent {spent}, at most {left} more."


def _describe_likely(session: Session) -> str:
    """Return the likeliest decisions, and how many others there are."""
    shares = {k: v for k, v in session.probabilities.items() if v > 0}
    ranked = sorted(shares, key=lambda label: -shares[label])
    named = [f"{label} {format_share(shares[label])}" for label in ranked[:MOST_LIKELY]]
    n_others = len(ranked) - len(named)
    if n_others:
        named.append(f"{n_others} other{'s' if n_others > 1 else ''}")
    return f"Likely: {', '.join(named)}."


def _describe_purpose(session: Session, branches: list[Branch]) -> str:
    """Return what the next test would settle."""
    n_now = sum(share > 0 for share in session.probabilities.values())
    if not branches:
        return f"Why: {n_now} decisions are possible."
    ending = [branch for branch in branches if branch.test is None]
    if len(ending) == len(branches):
        return "Why: it settles the decision, whatever it shows."
    most = max(b.n_decisions for b in branches)
    leaves = f"leaves at most {most} of {n_now} decisions"
    shares = [branch.share for branch in ending]
    if not ending or None in shares:
        return f"Why: it {leaves}."
    share = format_share(sum(s for s in shares if s is not None))
    return f"Why: it settles the decision in {share}, and else {leaves}."


def _list_choices(session: Session, branches: list[Branch]) -> Iterator[Text]:
    """Yield a line for each outcome: its number, its name, and what follows."""
    assert session.test is not None
    test = session.policy.test_by_name[session.test]
    rows: list[tuple[str, str, Branch | None]]
    if test.kind == "number":
        yield Text("   Type a number.")
        rows = [
            ("", branch.label.replace("x", session.test), branch) for branch in branches
        ]
    else:
        after = {o: branch for branch in branches for o in branch.outcomes}
        sign = "" if numbers_choices(test) else "#"
        rows = [
            (f"{sign}{i}", str(outcome), after.get(outcome))
            for i, outcome in enumerate(test.outcomes, 1)
        ]
    width = max((len(name) for _, name, _ in rows), default=0)
    for number, name, branch in rows[:MOST_BRANCHES]:
        line = Text.assemble((f"   {number:>3}  ", "bold cyan"), f"{name:<{width}}")
        if branch is not None:
            line.append("  " + _follows(branch))
        yield line
    if len(rows) > MOST_BRANCHES:
        yield Text(f"        and {len(rows) - MOST_BRANCHES} more")


def _follows(branch: Branch) -> str:
    share = "" if branch.share is None else f"{format_share(branch.share):>7}  "
    if branch.test is None:
        return f"{share}=> {branch.decision}"
    return f"{share}{branch.n_decisions} decisions left"


def _print_what_if(interview: Interview, outcome: Any) -> None:
    if outcome is None:
        raise InvalidAnswerError(
            "What if needs an outcome. Got none. Type, for example: what if "
            f"{(interview.session.outcomes or ('37.5',))[0]}"
        )
    after = interview.what_if(outcome).session
    if after.test is None:
        share = format_share(after.probabilities[after.decision_now])
        text = f"Then the decision is {after.decision} ({share}), for {after.spent:g}."
    else:
        text = (
            f"Then {after.test}? for {_price(after)}. {_describe_money(after)}  "
            f"{_describe_likely(after)}"
        )
    _say(f"   If {outcome}: {text}", style="magenta")


# The end.


def print_end(interview: Interview) -> None:
    """Print the decision, how certain it is, what it cost, and the path to it."""
    session = interview.session
    console = open_console()
    line = Text.assemble("\n=> ", (str(session.decision), "bold green"))
    certainty = interview.certainty
    line.append(f"  ({_describe_certainty(interview)})")
    console.print(line, soft_wrap=True)
    everything = session.policy.prices.cost_of_all()
    saved = max(everything - session.spent, 0.0)
    _say(
        f"   Spent {format_number(session.spent)}; every test would have cost "
        f"{format_number(everything)}: saved {format_number(saved)}."
    )
    if interview.n_unanswered:
        n = interview.n_unanswered
        _say(
            f"   {n} test{'s were' if n > 1 else ' was'} not answered, and the policy "
            "went on with what is usual there."
        )
    if certainty < 1:
        _say(f"   {_describe_likely(session)}")
    print_path(session)


def _describe_certainty(interview: Interview) -> str:
    certainty = interview.certainty
    # Only a tree and a sequence know what a test that was not answered leaves open.
    knows = interview.session.policy.kind in ("tree", "sequence")
    if interview.n_unanswered and not knows:
        return "as far as the answers go"
    return "certain" if certainty == 1 else f"{format_share(certainty)} certain"


def print_path(session: Session) -> None:
    """Print each test with what it showed and what was paid."""
    for entry in session.log:
        paid = entry.get("paid")
        if entry.get("skipped"):
            shown = "skipped" if paid is None else "not clear"
        else:
            shown = "missing" if entry["outcome"] is None else str(entry["outcome"])
        price = "" if paid is None else f"  (paid {format_number(paid)})"
        _say(f"   {entry['test']}: {shown}{price}")


def _say(text: str, *, style: str = "") -> None:
    open_console().print(Text(text, style=style), soft_wrap=True)
