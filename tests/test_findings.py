"""What the campaign once found is tried again, file by file."""

import json
import os
import sys

import numpy as np
import pytest

from campaign import files, limits, storms
from campaign.sources import compare_source
from campaign.target import FINDINGS

# The names of findings begin with what they are of.
FORMATS = {name.replace(" ", "-"): name for name in files.FORMATS}


def kept(prefix):
    return sorted(FINDINGS.glob(f"{prefix}-????????????.*"))


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


@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory need Linux")
@pytest.mark.skipif("ASKLESS_SANITIZED" in os.environ, reason="sanitizers need room")
def test_work_that_was_found_ends_by_itself_with_little_memory():
    works = limits.make_works(np.random.default_rng(0))
    for path in kept("memory"):
        name, room = path.read_text().rsplit(" ", 1)
        limits.with_little_memory(works[name], int(room))


def test_storms_that_were_found_are_weathered():
    for path in kept("storm"):
        name, seed = path.read_text().rsplit(" ", 1)
        storms.raise_storm(name, int(seed))
    for path in kept("writers"):
        storms.fight_for_a_log(int(path.read_text()))


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
