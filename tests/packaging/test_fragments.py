"""A change of the sources brings a note, and notes are well written."""

import os
import shutil
import subprocess

import pytest

from tests.packaging.scripts import load_script

fragments = load_script("fragments")

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a small project with a first commit on its main branch, and a shell."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("ASKLESS_BASE", raising=False)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A tester")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "tester@localhost")
    project = Checkout(tmp_path / "project")
    project.git("init", "-q", "-b", "main")
    project.commit("Begin", "src/a.py", "changes/README.md", "changes/begin.enh.md")
    return project


class Checkout:
    def __init__(self, root):
        self.root = root
        (root / "changes").mkdir(parents=True)

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, *arguments], check=True, timeout=60)

    def write(self, name):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(before + "a line\n")

    def commit(self, message, *names):
        for name in names:
            self.write(name)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)


def test_a_change_of_the_sources_without_a_note_is_found(checkout, capsys):
    checkout.commit("FIX a", "src/a.py")
    assert fragments.main(checkout.root) == 1
    said = capsys.readouterr().err
    assert "must add or edit a note in changes/" in said
    assert "Got none with changes of src/a.py." in said


@pytest.mark.parametrize("note", ["changes/new.fix.md", "changes/begin.enh.md"])
def test_a_note_may_be_new_or_edited(checkout, note):
    checkout.commit("FIX a", "src/a.py", note)
    assert fragments.main(checkout.root) == 0


def test_a_note_that_is_removed_does_not_count(checkout):
    (checkout.root / "changes/begin.enh.md").unlink()
    checkout.commit("FIX a", "src/a.py", "changes/README.md")
    assert fragments.main(checkout.root) == 1


def test_other_files_need_no_note(checkout):
    checkout.commit("DOC a page", "docs/a.md")
    assert fragments.main(checkout.root) == 0


def test_a_branch_is_compared_with_where_it_left_main(checkout):
    checkout.git("checkout", "-q", "-b", "feature")
    checkout.commit("ENH a", "src/a.py", "changes/a.enh.md")
    checkout.commit("ENH a, the rest", "src/b.py")
    assert fragments.main(checkout.root) == 0
    checkout.git("checkout", "-q", "main")
    checkout.commit("FIX b", "src/c.py", "changes/c.fix.md")
    checkout.git("checkout", "-q", "feature")
    checkout.git("rm", "-q", "changes/a.enh.md")
    checkout.commit("MNT no note after all")
    # The note on main is not this branch's.
    assert fragments.main(checkout.root) == 1


def test_what_is_not_committed_counts(checkout):
    checkout.commit("DOC a page", "docs/a.md")
    checkout.write("src/new.py")
    assert fragments.without_note(checkout.root) == ["src/new.py"]
    checkout.write("changes/new.enh.md")
    assert fragments.without_note(checkout.root) == []


def test_a_commit_may_say_that_it_needs_no_note(checkout):
    checkout.git("checkout", "-q", "-b", "feature")
    checkout.commit("MNT a\n\nChange-note: none, because it renames.", "src/a.py")
    assert fragments.main(checkout.root) == 0
    checkout.commit("FIX b", "src/b.py")
    assert fragments.without_note(checkout.root) == ["src/b.py"]


def test_the_base_can_be_named(checkout, monkeypatch):
    checkout.commit("FIX a", "src/a.py", "changes/a.fix.md")
    checkout.git("tag", "here")
    checkout.commit("FIX b", "src/b.py")
    checkout.commit("DOC a page", "docs/a.md")
    assert fragments.main(checkout.root) == 0
    monkeypatch.setenv("ASKLESS_BASE", "here")
    assert fragments.without_note(checkout.root) == ["src/b.py"]


def test_a_checkout_without_history_is_skipped_in_words(checkout, tmp_path, capsys):
    checkout.commit("FIX a", "src/a.py")
    shallow = tmp_path / "shallow"
    checkout.git("clone", "-q", "--depth=1", f"file://{checkout.root}", str(shallow))
    assert fragments.main(shallow) == 0
    assert "Skipped: whether this change brings a note" in capsys.readouterr().out


def test_a_folder_without_git_is_skipped_in_words(tmp_path, capsys):
    (tmp_path / "changes").mkdir()
    assert fragments.main(tmp_path) == 0
    assert "Skipped: whether this change brings a note" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("a.new.md", "A thing.", "must be called <name>.<kind>.md"),
        ("enh.md", "A thing.", "must be called <name>.<kind>.md"),
        ("a.enh.txt", "A thing.", "must be called <name>.<kind>.md"),
        ("a.enh.md", " \n", "must say what changed. Got an empty"),
    ],
)
def test_a_badly_written_note_is_found(tmp_path, name, text, match):
    (tmp_path / name).write_text(text)
    (tmp_path / "README.md").write_text("What notes are.")
    (tmp_path / "good-note.fix.md").write_text("A thing.")
    (found,) = fragments.badly_written(tmp_path)
    assert match in found
