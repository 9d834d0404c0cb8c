"""The log of an interview: a line of JSON for each thing that happened.

A line is on the disk before the next question is asked, so that a process which is
killed loses nothing. A log names its policy by digest, and following it again must come
to the same payments and the same decision.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from askless.exceptions import DataFileError, InvalidAnswerError
from askless.policy import Policy
from askless.policy._file import policy_digest
from askless.run._log_file import LogFile
from askless.run._session import Session

__all__ = ["Journal", "Repair", "repair_log", "replay_log"]

FORMAT = "askless-log"
VERSION = 1
# A log holds what one person typed; anything larger is another file.
MAX_BYTES = 64 * 1024 * 1024
REPAIR_HINT = (
    "Keep logs as they were written; `repair_log`, or `askless ask --repair`, cuts a "
    "damaged one back to its last good line."
)


class Repair(NamedTuple):
    """What :func:`repair_log` has done.

    Attributes
    ----------
    n_kept, n_dropped : int
        Lines that are still in the log, and lines that are not.
    backup : Path or None
        The damaged log as it was; None if nothing was wrong with it.
    """

    n_kept: int
    n_dropped: int
    backup: Path | None


class Journal:
    """A log that is being written, by one writer at a time.

    A line is written whole or not at all: where the disk is full, the file is cut back
    to its last whole line and the error says so. Another process that opens the same
    log to write is refused while this one has it.

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

    def __init__(self, path: Path, file: LogFile) -> None:
        self.path = path
        # Whether the last line is the decision.
        self.is_finished = False
        # How many lines were written, the first one included.
        self.n_lines = 0
        self._file = file

    @classmethod
    def create(
        cls, path: str | Path, policy: Policy, case: str | None = None
    ) -> Journal:
        """Begin a new log."""
        path = Path(path)
        header = {"format": FORMAT, "version": VERSION, "policy": policy_digest(policy)}
        line = _to_line(header if case is None else {**header, "case": case})
        file = LogFile.create(path)
        journal = cls(path, file)
        try:
            journal._append(line)
            file.sync_folder()
        except BaseException:
            # A log without its first line could be neither resumed nor created again.
            file.close()
            path.unlink(missing_ok=True)
            raise
        return journal

    @classmethod
    def resume(cls, path: str | Path, policy: Policy) -> tuple[Journal, Session]:
        """Go on with a log, and return the session that it has come to.

        A last line that was not written to its end is dropped.

        Raises
        ------
        LogInUseError
            If another process, or another interview of this one, is writing it.
        """
        path = Path(path)
        file = LogFile.open(path)
        try:
            entries, n_bytes = _parse_lines(file.read(MAX_BYTES + 1), path)
            session = _follow(entries, policy, path)
            file.cut(n_bytes)
        except BaseException:
            file.close()
            raise
        journal = cls(path, file)
        journal.n_lines = len(entries)
        journal.is_finished = "decision" in entries[-1]
        return journal, session

    def write(self, entry: Mapping[str, Any]) -> None:
        """Add a line, and wait until it is on the disk.

        Raises
        ------
        InvalidAnswerError
            If the entry holds a value that JSON cannot hold. Nothing is written.
        LogWriteError
            If the line could not be written. The log is as it was before.
        """
        self._append(_to_line(entry))
        self.is_finished = "decision" in entry

    def _append(self, line: bytes) -> None:
        self._file.append(line)
        self.n_lines += 1

    def close(self) -> None:
        """Close the file, and let others write it."""
        self._file.close()


def _to_line(entry: Mapping[str, Any]) -> bytes:
    try:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        return text.encode() + b"\n"
    except (TypeError, ValueError) as error:
        # UnicodeEncodeError is a ValueError: half of a surrogate pair.
        raise InvalidAnswerError(
            "What is logged must be text, a boolean, a finite number or missing. Got "
            f"{entry.get('outcome', entry)!r}. Answer with one of these."
        ) from error


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
    return _follow(_parse_lines(_read(path), path)[0], policy, path)


def repair_log(path: str | Path, policy: Policy) -> Repair:
    """Cut a damaged log back to the lines that still make sense, and keep the old one.

    Parameters
    ----------
    path : str or Path
        A log that cannot be replayed. Its first line must be whole.
    policy : Policy
        The policy that was asked.

    Returns
    -------
    Repair
        How many lines were kept and dropped, and where the damaged file is kept.

    Examples
    --------
    >>> import askless, tempfile
    >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
    >>> policy = askless.solve(table).policy
    >>> path = Path(tempfile.mkdtemp(), "log.jsonl")
    >>> Journal.create(path, policy).close()
    >>> _ = path.write_bytes(path.read_bytes() + b'{"test": "last')
    >>> repair = repair_log(path, policy)
    >>> repair.n_kept, repair.n_dropped, replay_log(path, policy).test
    (1, 1, 'last bit')
    """
    path = Path(path)
    file = LogFile.open(path)
    try:
        content = file.read(MAX_BYTES + 1)
        n_kept, n_bytes = _count_good(content, policy, path)
        n_dropped = content.count(b"\n") + (not content.endswith(b"\n")) - n_kept
        if n_bytes == len(content):
            return Repair(n_kept, 0, None)
        backup = _keep_aside(path, content)
        file.cut(n_bytes)
    finally:
        file.close()
    return Repair(n_kept, n_dropped, backup)


def _count_good(content: bytes, policy: Policy, path: Path) -> tuple[int, int]:
    """Return how many lines from the first on can be followed, and their bytes."""
    lines = content.split(b"\n")[:-1]
    header, n_bytes = _parse_lines(lines[0] + b"\n" if lines else content, path)
    follower = _Follower(header[0], policy, path)
    for number, line in enumerate(lines[1:], 2):
        try:
            follower.take(_parse(line, number, path), number)
        except (DataFileError, InvalidAnswerError):
            return number - 1, n_bytes
        n_bytes += len(line) + 1
    return len(lines), n_bytes


def _keep_aside(path: Path, content: bytes) -> Path:
    """Write a damaged log to a new file beside it, and return that file."""
    for number in count(1):
        backup = path.with_name(f"{path.name}.damaged-{number}")
        try:
            file = LogFile.create(backup)
        except DataFileError:
            if backup.exists():
                continue
            raise
        try:
            file.append(content)
            file.sync_folder()
        finally:
            file.close()
        return backup
    raise AssertionError("count never ends")


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataFileError(
            f"A log must be there and readable. Got: {error.strerror} for {path}. "
            "Check the path."
        ) from error


def _parse_lines(content: bytes, path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the whole lines of a log, and how many bytes they take."""
    whole, sign, _ = content.rpartition(b"\n")
    entries: list[dict[str, Any]] = []
    if whole and len(content) <= MAX_BYTES:
        for number, line in enumerate(whole.split(b"\n"), 1):
            entries.append(_parse(line, number, path))
    if not entries or entries[0].get("format") != FORMAT:
        raise DataFileError(
            f"A log must begin with its format, {FORMAT!r}. Got something else in "
            f"{path}. Pass a file that `askless ask` has written."
        )
    version = entries[0].get("version")
    if version != VERSION:
        is_newer = isinstance(version, int) and version > VERSION
        raise DataFileError(
            f"A log must be of version {VERSION}. Got {version!r} in {path}. "
            + (
                "Update to the newer Askless that wrote it."
                if is_newer
                else "Pass a file that `askless ask` has written."
            )
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
            f"of {path}. {REPAIR_HINT}"
        )
    return entry


def _follow(entries: list[dict[str, Any]], policy: Policy, path: Path) -> Session:
    follower = _Follower(entries[0], policy, path)
    for number, entry in enumerate(entries[1:], 2):
        follower.take(entry, number)
    return follower.session


class _Follower:
    """Follows a log line by line, and compares what it comes to."""

    def __init__(self, header: dict[str, Any], policy: Policy, path: Path) -> None:
        if header.get("policy") != policy_digest(policy):
            raise InvalidAnswerError(
                "A log must be followed with its own policy. Got another policy than "
                f"the one that {path} was made with. Pass the file it was made from."
            )
        self.session = Session(policy)
        self.path = path

    def take(self, entry: dict[str, Any], number: int) -> None:
        session = self.session
        if entry.get("undo"):
            session.undo()
        elif "decision" in entry:
            found = {"decision": session.decision, "spent": session.spent}
            _compare(entry, found, number, self.path)
        else:
            step = session.plan_entry(entry)
            _compare(entry, step.entry, number, self.path)
            session.take(step)


def _compare(
    stated: Mapping[str, Any], found: Mapping[str, Any], number: int, path: Path
) -> None:
    for key, value in found.items():
        if stated.get(key) != value:
            raise InvalidAnswerError(
                f"A log must come to the same again. Got {key} {stated.get(key)!r} in "
                f"line {number} of {path}, and it is {value!r}. {REPAIR_HINT}"
            )
