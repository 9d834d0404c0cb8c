"""``askless ask``: an interview in the terminal, or with a program, about one case.

It opens the policy and the log. It must not know what is asked.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from askless.cli._options import edited_option, policy_argument
from askless.cli._output import print_error, print_json, say
from askless.cli.asking._json import talk_json
from askless.cli.asking._steps import Left
from askless.cli.asking._text import print_end, print_path, talk
from askless.policy import Policy, load
from askless.run import Interview, Journal, describe, repair_log, replay_log

__all__ = ["ask_command"]


@click.command("ask", short_help="Ask test by test until the case is decided.")
@policy_argument
@click.option(
    "--log",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Log the interview to this new file. In a terminal, POLICY.log.jsonl in the "
    "current folder by default; else none.",
)
@click.option("--no-log", is_flag=True, help="Write no log.")
@click.option(
    "--resume",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Go on with the interview of this log.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Follow this log again, check it, and show what it comes to.",
)
@click.option(
    "--repair",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Cut this damaged log back to its last good line, and keep a copy of it.",
)
@click.option("--case", metavar="NAME", help="What to call the case in the log.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write a line of JSON for each question; read one for each answer, or text.",
)
@edited_option
def ask_command(
    policy: Path,
    log: Path | None,
    no_log: bool,
    resume: Path | None,
    replay: Path | None,
    repair: Path | None,
    case: str | None,
    as_json: bool,
    edited: bool,
) -> None:
    """Ask the policy in the file POLICY about one case, test by test.

    Every answer is on the disk before the next question, so that nothing is lost if
    the program is killed: see --resume.
    """
    if sum([no_log, *(path is not None for path in (log, resume, replay, repair))]) > 1:
        raise click.UsageError(
            "Only one of --log, --no-log, --resume, --replay and --repair."
        )
    loaded = load(policy, edited=edited)
    if replay is not None:
        _show_log(loaded, replay, as_json)
        return
    if repair is not None:
        _repair_log(loaded, repair, as_json)
        return
    if log is None and not no_log and not as_json and sys.stdin.isatty():
        log = _free_log(policy)
    if resume is not None:
        interview = Interview.resume(loaded, resume)
    else:
        journal = None if log is None else Journal.create(log, loaded, case)
        interview = Interview(loaded, journal)
    if not as_json:
        _print_title(policy, interview)
    _run(interview, policy, as_json)


def _run(interview: Interview, policy: Path, as_json: bool) -> None:
    try:
        if as_json:
            talk_json(interview)
        else:
            talk(interview)
    except EOFError:
        pass
    except (Left, KeyboardInterrupt) as left:
        interview.close()
        if isinstance(interview.journal, Journal):
            command = ["askless", "ask", str(policy), "--resume"]
            command.append(str(interview.journal.path))
            # On one line whatever the width, to be copied.
            say(f"To go on: {shlex.join(command)}", err=True)
        if isinstance(left, KeyboardInterrupt):
            raise
        if not sys.stdin.isatty():
            print_error(
                "The answers must lead to a decision. Got the end of the input before "
                f"{interview.session.test!r}. Send more answers, or skip."
            )
            sys.exit(1)
        return
    interview.close()
    if isinstance(interview.journal, Journal) and not as_json:
        say(f"   Log: {interview.journal.path}")


def _show_log(policy: Policy, path: Path, as_json: bool) -> None:
    interview = Interview(policy)
    interview.session = replay_log(path, policy)
    if as_json:
        print_json(describe(interview))
    elif interview.is_over:
        print_end(interview)
    else:
        print_path(interview.session)
        say(f"   Next: {interview.session.test}?")


def _repair_log(policy: Policy, path: Path, as_json: bool) -> None:
    done = repair_log(path, policy)
    backup = None if done.backup is None else str(done.backup)
    if as_json:
        print_json({"kept": done.n_kept, "dropped": done.n_dropped, "backup": backup})
    elif backup is None:
        say(f"Nothing is wrong with {path}: {done.n_kept} lines.")
    else:
        say(
            f"{path}: {done.n_kept} lines kept, {done.n_dropped} dropped. As it was: "
            f"{backup}"
        )


def _print_title(path: Path, interview: Interview) -> None:
    say(f"{path}: type h for help.")
    if interview.session.log:
        say("So far:")
        print_path(interview.session)


def _free_log(policy: Path) -> Path:
    """Return a name for a new log in the current folder."""
    path, number = Path(f"{policy.stem}.log.jsonl"), 1
    while path.exists():
        number += 1
        path = Path(f"{policy.stem}-{number}.log.jsonl")
    return path
