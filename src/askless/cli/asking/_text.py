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

from askless._text import escape_unprintable
from askless.cli._output import format_number, format_share, print_line
from askless.cli.asking._steps import Left, take_step
from askless.exceptions import InvalidAnswerError
from askless.run import Interview, Session, describe, read_reply
from askless.run._evidence import explain_stop
from askless.run._reply import numbers_choices

__all__ = ["print_end", "print_path", "talk"]

# What `askless.run.describe` says, or a part of it.
Description = dict[str, Any]

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
            print_line(str(error), style="red")
            has_moved = False
        if has_moved:
            print_question(interview)
    if not interview.is_over:
        raise Left


def _act(interview: Interview, typed: str) -> bool:
    """Do what was typed; return whether there is something new to show."""
    reply = read_reply(interview.session, typed)
    if take_step(interview, reply):
        return True
    if reply.kind == "what if":
        _print_what_if(interview, reply.outcome)
    elif reply.kind == "why":
        print_line(interview.session.why(), style="italic")
    elif reply.kind == "help":
        click.echo(HELP)
    elif interview.is_over:
        raise EOFError
    else:
        raise Left
    return False


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
    if interview.is_over:
        print_end(interview)
        if sys.stdin.isatty():
            print_line("Enter to finish, or undo.", style="dim")
        return
    shown = describe(interview)
    _print_conflict(interview.session, shown)
    number = len({entry["test"] for entry in interview.session.log}) + 1
    print_line()
    print_line(f"{number}. ", (f"{shown['test']}?", "bold"), f"  costs {_price(shown)}")
    print_line(f"   {_describe_money(shown)}  {_describe_likely(shown)}", style="dim")
    if shown["mistake_now"] is not None:
        mistake = format_number(shown["mistake_now"])
        now = f"{shown['decision_now']} now costs {mistake} in mistakes on average"
        print_line(f"   To decide {now}.", style="dim")
    if len(shown["ordered"]) > 1:
        others = ", ".join(shown["ordered"][1:])
        print_line(
            f"   Its result comes late, so these are bought together with it: {others}."
        )
    print_line(f"   {_describe_purpose(shown)}", style="dim")
    _print_choices(interview.session, shown)


def _price(shown: Description) -> str:
    price, most = shown["price"], shown["price_at_most"]
    if most > price:
        return f"{format_number(price)} to {format_number(most)}"
    return format_number(price)


def _describe_money(shown: Description) -> str:
    left = format_number(shown["left_at_worst"])
    return f"Spent {format_number(shown['spent'])}, at most {left} more."


def _describe_likely(shown: Description) -> str:
    """Return the likeliest decisions and how many others, or what number to expect."""
    if not shown["likely"]:
        expected = shown.get("decision_now", shown.get("decision"))
        return f"Expected so far: {_decided(expected)}."
    named = [
        f"{one['decision']} {format_share(one['share'])}"
        for one in shown["likely"][:MOST_LIKELY]
    ]
    n_others = len(shown["likely"]) - len(named)
    if n_others:
        named.append(f"{n_others} other{'s' if n_others > 1 else ''}")
    return f"Likely: {', '.join(named)}."


def _describe_purpose(shown: Description) -> str:
    """Return what the next test would settle."""
    branches, n_now = shown["branches"], len(shown["likely"])
    if branches and not n_now:
        expected = sorted(branch["decision"] for branch in branches)
        low, high = _decided(expected[0]), _decided(expected[-1])
        return f"Why: {low} to {high} is expected after it."
    if not n_now:
        return "Why: the number depends on it."
    if not branches:
        return f"Why: {n_now} decisions are possible."
    ending = [branch for branch in branches if branch["test"] is None]
    if len(ending) == len(branches):
        return "Why: it settles the decision, whatever it shows."
    most = max(branch["n_decisions"] for branch in branches)
    leaves = f"leaves at most {most} of {n_now} decisions"
    shares = [branch["share"] for branch in ending]
    if not ending or None in shares:
        return f"Why: it {leaves}."
    share = format_share(sum(shares))
    return f"Why: it settles the decision in {share}, and else {leaves}."


def _print_choices(session: Session, shown: Description) -> None:
    """Print a line for each outcome: its number, its name, and what follows."""
    rows: list[tuple[str, str, Description | None]]
    branches = shown["branches"]
    if shown["kind"] == "number":
        print_line("   Type a number.")
        rows = [("", b["label"].replace("x", shown["test"]), b) for b in branches]
    else:
        after = {outcome: b for b in branches for outcome in b["outcomes"]}
        sign = (
            "" if numbers_choices(session.policy.test_by_name[shown["test"]]) else "#"
        )
        rows = [
            (f"{sign}{i}", str(outcome), after.get(outcome))
            for i, outcome in enumerate(shown["outcomes"], 1)
        ]
        # What cases show that have no outcome recorded; it has no number to type.
        rows += [("", b["label"], b) for b in branches if not b["outcomes"]]
    # Escaped first: an escape is wider than what it stands for.
    rows = [(number, escape_unprintable(name), b) for number, name, b in rows]
    width = max((len(name) for _, name, _ in rows), default=0)
    for number, name, branch in rows[:MOST_BRANCHES]:
        follows = "" if branch is None else f"  {_follows(branch)}"
        print_line((f"   {number:>3}  ", "bold cyan"), f"{name:<{width}}{follows}")
    if len(rows) > MOST_BRANCHES:
        print_line(f"        and {len(rows) - MOST_BRANCHES} more")


def _follows(branch: Description) -> str:
    has_share = branch["share"] is not None
    share = f"{format_share(branch['share']):>7}  " if has_share else ""
    if branch["taken_as"] is not None:
        return f"{share}no case here; taken as {branch['taken_as']}"
    if branch["test"] is None:
        return f"{share}=> {_decided(branch['decision'])}"
    if branch["n_decisions"] == 0:
        return f"{share}{_decided(branch['decision'])} expected"
    return f"{share}{branch['n_decisions']} decisions left"


def _decided(decision: Any) -> str:
    """Return a decision as text; a number in six digits."""
    return f"{decision:.6g}" if isinstance(decision, float) else str(decision)


def _print_what_if(interview: Interview, outcome: Any) -> None:
    if outcome is None:
        raise InvalidAnswerError(
            "What if needs an outcome. Got none. Type, for example: what if "
            f"{(interview.session.outcomes or ('37.5',))[0]}"
        )
    after = describe(interview.what_if(outcome))
    if after["event"] == "decision":
        sure = f" ({format_share(after['certainty'])})" if after["likely"] else ""
        text = (
            f"Then the decision is {_decided(after['decision'])}{sure}, for "
            f"{after['spent']:g}."
        )
        if after["conflict"] is not None:
            text += " But no case shows that together with the answers before."
    else:
        text = (
            f"Then {after['test']}? for {_price(after)}. {_describe_money(after)}  "
            f"{_describe_likely(after)}"
        )
    print_line(f"   If {outcome}: {text}", style="magenta")


# The end.


def print_end(interview: Interview) -> None:
    """Print the decision, how certain it is, what it cost, and the path to it."""
    shown = describe(interview)
    print_line()
    _print_conflict(interview.session, shown)
    sure = _describe_certainty(interview, shown)
    print_line(
        "=> ",
        (_decided(shown["decision"]), "bold green"),
        f"  ({sure})" if sure else "",
    )
    everything = shown["cost_of_all"]
    saved = max(everything - shown["spent"], 0.0)
    print_line(
        f"   Spent {format_number(shown['spent'])}; every test would have cost "
        f"{format_number(everything)}: saved {format_number(saved)}."
    )
    n = shown["n_unanswered"]
    if n:
        print_line(
            f"   {n} test{'s were' if n > 1 else ' was'} not answered, and the policy "
            "went on with what is usual there."
        )
    if shown["certainty"] < 1:
        print_line(f"   {_describe_likely(shown)}")
        if shown["mistake_now"] is not None:
            session = interview.session
            why = explain_stop(session.policy, session.bought, shown["mistake_now"])
            print_line(f"   It stops here since {why}.")
    print_path(interview.session)


def _describe_certainty(interview: Interview, shown: Description) -> str:
    """Return how certain a decision is; nothing of a number, which has no share."""
    # Only a tree and a sequence know what a test that was not answered leaves open.
    kind = interview.session.policy.kind
    if shown["n_unanswered"] and kind not in ("tree", "sequence"):
        return "as far as the answers go"
    if not shown["likely"]:
        return ""
    share = format_share(shown["certainty"])
    if kind not in ("tree", "sequence", "rule"):
        return f"{share} by the model"
    if shown["conflict"] is not None:
        return f"{share} if what no case shows is left out"
    if shown["unlikely"] is not None:
        return f"{share}, but the answers are unlikely"
    if shown["certainty"] < 1 and shown["mistake_now"] is not None:
        return f"{share} likely"
    return f"{share} of the known cases that fit"


def _print_conflict(session: Session, shown: Description) -> None:
    """Print what was answered that few or no cases show, and what is done about it."""
    if shown["unlikely"] is not None:
        print_line(f"   {session.oddity}", style="bold yellow")
    conflict = shown["conflict"]
    if conflict is None:
        return
    said = {entry["test"]: entry.get("outcome") for entry in session.log}
    if conflict["recheck"]:
        again = ", ".join(f"{test} ({said[test]})" for test in conflict["recheck"])
        first = f"No case fits all answers so far. Look again at: {again}."
    else:
        first = "No case that the policy has in mind here shows this."
    print_line(f"   {first}", style="bold yellow")
    for test, outcome in conflict["taken_as"].items():
        instead = "skipped" if outcome is None else f"showing {outcome}"
        print_line(
            f"   The policy goes on with {test} as {instead}, not {said[test]}.",
            style="yellow",
        )


def print_path(session: Session) -> None:
    """Print each test with what it showed and what was paid."""
    for entry in session.log:
        paid = entry.get("paid")
        if entry.get("skipped"):
            shown = "skipped" if paid is None else "not clear"
        else:
            shown = "missing" if entry["outcome"] is None else str(entry["outcome"])
        price = "" if paid is None else f"  (paid {format_number(paid)})"
        print_line(f"   {entry['test']}: {shown}{price}")
