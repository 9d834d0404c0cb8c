"""What the campaign once found is tried again, file by file."""

import json

import pytest

from campaign import files
from campaign.sources import compare_source
from campaign.target import FINDINGS

# The names of findings begin with what they are of.
FORMATS = {name.replace(" ", "-"): name for name in files.FORMATS}


def kept(prefix):
    return sorted(FINDINGS.glob(f"{prefix}-*")) if FINDINGS.is_dir() else []


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_that_were_found_are_received_well(name):
    for path in [*kept(name), *kept(f"guided-{name}")]:
        files.receive(FORMATS[name], path.read_bytes())


def test_settings_that_were_found_are_equal_or_refused():
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    for path in kept("source"):
        received, _ = compare_source(json.loads(path.read_bytes()), 2000)
        assert received in ("equal", "refused"), path.name


@pytest.mark.parametrize("name", FORMATS)
def test_whole_files_are_received(name):
    form = files.FORMATS[FORMATS[name]]
    assert {form.receive(seed) for seed in form.seeds} <= {"whole", "read"}


def test_a_file_that_breaks_a_promise_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("campaign.target.FINDINGS", tmp_path)
    from campaign.target import Tally

    tally = Tally("files")
    tally.find("policy", b"{}", ".json", AssertionError("wrong"))
    (kept_file,) = tmp_path.iterdir()
    assert kept_file.read_bytes() == b"{}"
    assert tally.findings[0]["file"] == kept_file.name
