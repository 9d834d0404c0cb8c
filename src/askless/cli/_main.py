"""The group of commands, and what every command does when something goes wrong.

Errors of the library become a message on stderr and exit code 1, wrong usage exit code
2, Ctrl-C exit code 130; warnings become notes. A command is imported when it is run, so
that help comes at once. This module must not know what a command does.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO, Any, TextIO

import click

from askless._text import escape_unprintable
from askless.exceptions import AsklessError, AsklessWarning, suggest_name

__all__ = ["main"]

# Each command NAME is `NAME_command` in the module of its name.
COMMANDS = {
    "demo": "Take the tour: solve, ask, learn.",
    "solve": "Find a cheap policy for a known table.",
    "fit": "Learn a policy from examples.",
    "evaluate": "Price a policy on rows of data.",
    "decide": "Decide rows of data: decisions, costs, tests.",
    "compare": "Compare two policies on the same rows.",
    "frontier": "Compare models: error against cost, as a page.",
    "show": "Show a policy as a picture, as code or as data.",
    "ask": "Ask test by test until the case is decided.",
    "serve": "Ask in a browser, and over HTTP for programs.",
    "mcp": "Let a language model ask by policies.",
    "methods": "List the methods of solve and fit.",
    "datasets": "List data sets, or write one to files.",
}
# What a shell reports for a program that Ctrl-C ended.
INTERRUPTED = 130


class Failure(click.ClickException):
    """An error of the library: its own words, no traceback."""

    exit_code = 1

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message on stderr."""
        from askless.cli._output import print_error

        print_error(self.message)


class Commands(click.Group):
    """Commands in the order in which a newcomer needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table, not by the alphabet."""
        return list(dict.fromkeys([*COMMANDS, *self.commands]))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; the first use of it imports it."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = import_module(f"askless.cli.{cmd_name}")
            self.add_command(getattr(module, f"{cmd_name}_command"))
        return super().get_command(ctx, cmd_name)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            hint = suggest_name(name, known) or f"The commands are {', '.join(known)}."
            ctx.fail(f"There is no command {name!r}. {hint.strip()}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read what stands before the command; what is wrong there is safe to print."""
        with _safe_usage():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what goes wrong into a message and an exit code."""
        try:
            with _carry_any_name(), _notes(), _safe_usage():
                return super().invoke(ctx)
        except AsklessError as error:
            raise Failure(str(error)) from error
        except KeyboardInterrupt:
            from askless.cli._output import print_error

            print_error("Interrupted. Nothing was left half written.", label=None)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            # The reader of the pipe has seen enough: click ends quietly.
            raise
        except OSError as error:
            raise Failure(
                f"Files and pipes must be readable and writable. Got: {error}. Check "
                "the path, its rights and the space left."
            ) from error


@contextmanager
def _safe_usage() -> Iterator[None]:
    """Make what click says of wrong usage safe to print: it repeats what was typed."""
    try:
        yield
    except click.UsageError as error:
        said = error.format_message()
        safe = escape_unprintable(said, keep_lines=True)
        if safe == said:
            raise
        raise click.UsageError(safe, error.ctx) from error


@contextmanager
def _carry_any_name() -> Iterator[None]:
    """Let what the encoding of stdout cannot carry become "?", not an error."""
    stream: Any = sys.stdout
    usual = getattr(stream, "errors", None)
    if usual is None or not hasattr(stream, "reconfigure"):
        yield
        return
    stream.reconfigure(errors="replace")
    try:
        yield
    finally:
        # Setting it flushes; a pipe that is gone has been noticed already.
        with suppress(BrokenPipeError):
            stream.reconfigure(errors=usual)


@contextmanager
def _notes() -> Iterator[None]:
    """Print warnings of the library as notes on stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", AsklessWarning)
        usual = warnings.showwarning

        def print_warning(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, AsklessWarning):
                from askless.cli._output import print_note

                print_note(str(message))
            else:
                text = escape_unprintable(str(message), keep_lines=True)
                usual(text, category, filename, lineno, file, line)

        warnings.showwarning = print_warning
        yield


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="New here? Type: askless demo",
)
@click.version_option(package_name="askless", message="%(prog)s %(version)s")
def main() -> None:
    """Ask less, decide right.

    Tells which test to buy next, when to stop, and what to decide, when every test has
    a price.
    """
