"""Files are written whole or not at all, and never over something else."""

import os
import stat

import pytest

from askless.cli.files._files import free_policy_path, is_policy_file, write_whole
from askless.exceptions import DataFileError


def test_all_files_are_written_or_none(tmp_path):
    good, bad = tmp_path / "a.txt", tmp_path / "no" / "b.txt"
    with pytest.raises(DataFileError, match=r"folder of a file must be there.*b\.txt"):
        write_whole({good: "a", bad: "b"})
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole({path: "new"})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
def test_a_file_has_the_usual_rights(tmp_path):
    plain, whole = tmp_path / "plain", tmp_path / "whole"
    plain.write_text("")
    write_whole({whole: ""})
    rights = [stat.S_IMODE(path.stat().st_mode) for path in (plain, whole)]
    assert rights[0] == rights[1]


def test_text_is_utf_8_and_lines_end_as_they_are(tmp_path):
    write_whole({tmp_path / "a": "é\n"})
    assert (tmp_path / "a").read_bytes() == b"\xc3\xa9\n"


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (b'{"format": "askless-policy",\n "version": 1', True),
        (b'{ "format" :"askless-policy"}', True),
        (b'{"format": "other"}', False),
        (b"", False),
        (b"\xff\x00", False),
    ],
)
def test_a_policy_is_known_by_its_beginning(tmp_path, content, answer):
    (tmp_path / "x").write_bytes(content)
    assert is_policy_file(tmp_path / "x") is answer
    assert is_policy_file(tmp_path) is False


def test_a_name_is_free_or_a_policys(tmp_path, policy):
    assert free_policy_path(tmp_path, "new") == tmp_path / "new.json"
    assert free_policy_path(policy.parent, "lamp") == policy
    policy.write_text("{}")
    (tmp_path / "lamp-2.json").mkdir()
    assert free_policy_path(tmp_path, "lamp") == tmp_path / "lamp-3.json"
