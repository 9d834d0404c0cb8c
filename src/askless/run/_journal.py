"""The log of an interview: a line of JSON for each thing that happened.

A line is on the disk before the next question is asked, so that a process which is
killed loses nothing. A log names its policy by digest, and following it again must come
to the same payments and the same decision.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from askless.exceptions import DataFileError, InvalidAnswerError
from askless.policy import Policy
from askless.policy._file import policy_digest
from askless.run._session import Session

__all__ = ["Journal", "replay_log"]

FORMAT = "askless-log"
VERSION = 1
# A log holds what one person typed; anything larger is another file.
MAX_BYTES = 64 * 1024 * 1024


class Journal:
    """A log that is being written.

    Parameters
    ----------
    path : Path
        The file; :meth:`create` makes it, :meth:`resume` goes on with it.

    Examples
    --------
    >>> import askless, tempfile
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> policy = askless.solve(table).policy
    >>> path = Path(tempfile.mkdtemp(), "log.jsonl")
    >>> journal = Journal.create(path, policy)
    >>> journal.write({"test": "last bit", "outcome": 1, "paid": 1.0})
    >>> journal.close()
    >>> replay_log(path, policy).decision
    'odd'
    """

    def __init__(self, path: Path, mode: str) -> None:
        self.path = path
        # Whether the last line is the decision.
        self.is_finished = False
        try:
            # Bytes, so that a line ends alike everywhere; no buffer to lose.
            self._file: Any = open(path, mode + "b", buffering=0)  # noqa: SIM115
        except FileExistsError as error:
            raise DataFileError(
                f"A log must be written to a new file. Got {path}, which is there. "
                "Resume it, or choose another name."
            ) from error
        except OSError as error:
            raise DataFileError(
                f"The folder of a log must be there and writable. Got: "
                f"{error.strerror} for {path}. Choose another path."
            ) from error

    @classmethod
    def create(
        cls, path: str | Path, policy: Policy, case: str | None = None
    ) -> Journal:
        """Begin a new log."""
        journal = cls(Path(path), "x")
        header = {"format": FORMAT, "version": VERSION, "policy": policy_digest(policy)}
        journal.write(header if case is None else {**header, "case": case})
        return journal

    @classmethod
    def resume(cls, path: str | Path, policy: Policy) -> tuple[Journal, Session]:
        """Go on with a log, and return the session that it has come to.

        A last line that was not written to its end is dropped.
        """
        path = Path(path)
        lines, n_bytes = _read(path)
        session = _follow(lines, policy, path)
        journal = cls(path, "a")
        journal._file.truncate(n_bytes)
        journal.is_finished = "decision" in lines[-1]
        return journal, session

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line, and wait until it is on the disk."""
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        self._file.write(line.encode() + b"\n")
        os.fsync(self._file.fileno())
        self.is_finished = "decision" in entry

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def replay_log(path: str | Path, policy: Policy) -> Session:
    """Return the session that a log describes, after checking every line of it.

    Parameters
    ----------
    path : str or Path
        A log.
    policy : Policy
        The policy that was asked.

    Raises
    ------
    InvalidAnswerError
        If the log is of another policy, or comes to other costs or another decision.
    """
    path = Path(path)
    return _follow(_read(path)[0], policy, path)


def _read(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the whole lines of a log, and how many bytes they take."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataFileError(
            f"A log must be there and readable. Got: {error.strerror} for {path}. "
            "Check the path."
        ) from error
    whole, sign, _ = content.rpartition(b"\n")
    entries: list[dict[str, Any]] = []
    if len(content) <= MAX_BYTES:
        for number, line in enumerate(whole.split(b"\n"), 1):
            entries.append(_parse(line, number, path))
    if not entries or entries[0].get("format") != FORMAT:
        raise DataFileError(
            f"A log must begin with its format, {FORMAT!r}. Got something else in "
            f"{path}. Pass a file that `askless ask` has written."
        )
    if entries[0].get("version") != VERSION:
        raise DataFileError(
            f"A log must be of version {VERSION}. Got {entries[0].get('version')!r} in "
            f"{path}. Use the Askless that wrote it."
        )
    return entries, len(whole) + len(sign)


def _parse(line: bytes, number: int, path: Path) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise DataFileError(
            f"Every line of a log must be a JSON object. Got another in line {number} "
            f"of {path}. Keep logs as they were written."
        )
    return entry


def _follow(entries: list[dict[str, Any]], policy: Policy, path: Path) -> Session:
    if entries[0].get("policy") != policy_digest(policy):
        raise InvalidAnswerError(
            "A log must be followed with its own policy. Got another policy than the "
            f"one that {path} was made with. Pass the file it was made from."
        )
    session = policy.start()
    for number, entry in enumerate(entries[1:], 2):
        if entry.get("undo"):
            session.undo()
        elif "decision" in entry:
            _compare(
                entry,
                {"decision": session.decision, "spent": session.spent},
                number,
                path,
            )
        else:
            session.replay_entry(entry)
            _compare(entry, session.log[-1], number, path)
    return session


def _compare(
    stated: Mapping[str, Any], found: Mapping[str, Any], number: int, path: Path
) -> None:
    for key, value in found.items():
        if stated.get(key) != value:
            raise InvalidAnswerError(
                f"A log must come to the same again. Got {key} {stated.get(key)!r} in "
                f"line {number} of {path}, and it is {value!r}. Keep logs as they were "
                "written."
            )
