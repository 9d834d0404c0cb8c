"""Check the notes in changes/: well named, not empty, and there for each change.

A change of files under src/ must add or edit a note. What changed is what git says,
against the branch that the change will be merged into, or, on that branch itself,
against the last commit. Where git does not know that far back, this half is skipped in
words.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
KINDS = ("ci", "doc", "enh", "fix", "mnt", "perf")
# Branches that changes are merged into, the first one found counts.
TARGETS = ("origin/main", "main")
# A line of a commit message: what this commit changes in src/ is seen by no user.
NO_NOTE = "Change-note: none"


def badly_written(changes: Path) -> list[str]:
    """Return a line for each note that is misnamed or empty."""
    found = []
    for note in sorted(path for path in changes.iterdir() if path.name != "README.md"):
        if note.suffixes[-2:] not in ([f".{kind}", ".md"] for kind in KINDS):
            found.append(
                f"A note must be called <name>.<kind>.md. Got changes/{note.name}. "
                f"Choose a kind out of {', '.join(KINDS)}."
            )
        elif not note.read_text(encoding="utf-8").strip():
            found.append(
                f"A note must say what changed. Got an empty changes/{note.name}. "
                "Write a sentence, or remove the file."
            )
    return found


class NoHistoryError(Exception):
    """Git cannot say what changed; the message says why."""


def git(root: Path, *arguments: str) -> list[str]:
    """Return the lines that a git command prints."""
    try:
        run = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True, text=True, check=True, encoding="utf-8",
        )  # fmt: skip
    except FileNotFoundError as error:
        raise NoHistoryError("git is not installed") from error
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or [f"git {arguments[0]}"])[-1]
        raise NoHistoryError(reason) from error
    return run.stdout.splitlines()


def base_of(root: Path) -> str:
    """Return the commit that the change is compared with."""
    top = git(root, "rev-parse", "--show-toplevel")[0]
    if Path(top).resolve() != root.resolve():
        raise NoHistoryError(f"{root} is no checkout of its own")
    head = git(root, "rev-parse", "HEAD")[0]
    if named := os.environ.get("ASKLESS_BASE"):
        return git(root, "merge-base", named, head)[0]
    for target in TARGETS:
        try:
            base = git(root, "merge-base", target, head)[0]
        except NoHistoryError:
            continue
        if base != head:
            return base
    # This is the branch that changes are merged into, or the only one.
    return git(root, "rev-parse", "--verify", "HEAD~1")[0]


def without_note(root: Path) -> list[str]:
    """Return what changed in src/ since the base if no note was added or edited."""
    base = base_of(root)
    untracked = git(root, "ls-files", "--others", "--exclude-standard")
    written = git(root, "diff", "--name-only", "--diff-filter=d", base) + untracked
    if any(name.startswith("changes/") and name != "changes/README.md"
           for name in written):  # fmt: skip
        return []
    changed = [
        *(n for n in git(root, "diff", "--name-only", "HEAD") if n.startswith("src/")),
        *(name for name in untracked if name.startswith("src/")),
    ]
    for commit in git(root, "rev-list", "--no-merges", f"{base}..HEAD"):
        message = git(root, "show", "--no-patch", "--format=%B", commit)
        if not any(line.startswith(NO_NOTE) for line in message):
            changed += git(
                root, "show", "--name-only", "--format=", commit, "--", "src/"
            )
    return sorted(set(changed))


def complaint(changed: list[str]) -> str:
    """Say that a change has no note."""
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return (
        "A change of src/ must add or edit a note in changes/. Got none with changes "
        f"of {', '.join(changed[:3])}{more}. Add changes/<name>.<kind>.md (see "
        "changes/README.md); or, if no user can notice the change, end the commit's "
        f"message with a line '{NO_NOTE}, because ...'."
    )


def main(root: Path = ROOT) -> int:
    """Print what is wrong; return 1 if something is."""
    found = badly_written(root / "changes")
    try:
        if changed := without_note(root):
            found.append(complaint(changed))
    except NoHistoryError as reason:
        print(f"Skipped: whether this change brings a note. Git says: {reason}.")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
