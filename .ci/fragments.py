"""Check that changes/ has a note for the next release, and that each is well named."""

import sys
from pathlib import Path

CHANGES = Path(__file__).parent.parent / "changes"
KINDS = ("ci", "doc", "enh", "fix", "mnt", "perf")


def complaints() -> list[str]:
    notes = sorted(path for path in CHANGES.iterdir() if path.name != "README.md")
    if not notes:
        return ["A change must bring a note. Got none. Add changes/<name>.<kind>.md."]
    found = []
    for note in notes:
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


if __name__ == "__main__":
    sys.exit("\n".join(complaints()) or None)
