"""The campaign finds what it looks for: faults are planted, and each part sees them."""

import importlib.util
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import askless
from askless import _disk
from askless.exceptions import InvalidOptionError
from askless.policy import Tree
from askless.policy import _file as policy_file
from askless.run import _log_file as log_file
from askless.run._log_file import LogFile
from askless.serve.kept._store import Store
from campaign import crashes, files, limits, sources, storms, target
from campaign.settings import draw_recipe

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and limits")
unwatched = pytest.mark.skipif(
    "ASKLESS_SANITIZED" in os.environ, reason="sanitizers take time and room"
)


@pytest.fixture(autouse=True)
def findings(tmp_path, monkeypatch):
    """Keep planted findings out of the real ones."""
    folder = tmp_path / "findings"
    monkeypatch.setattr(target, "FINDINGS", folder)
    return folder


@pytest.fixture
def policies():
    return [crashes._policy(), askless.solve(askless.datasets.load_car()).policy]


def is_found(act, times=40):
    """Return whether one of some trials breaks a promise."""
    for _ in range(times):
        try:
            act()
        except (AssertionError, OSError, askless.exceptions.AsklessError):
            return True
    return False


# Crashes.


def append_without_sync(self, content):
    os.lseek(self._descriptor, self._size, os.SEEK_SET)
    os.write(self._descriptor, content)
    self._size += len(content)


def append_later(self, content):
    """Acknowledge a line before it is written: with the next one."""
    waiting = getattr(self, "_waiting", b"")
    self._waiting = content
    os.lseek(self._descriptor, 0, os.SEEK_END)
    os.write(self._descriptor, waiting)
    self._size += len(waiting)


def write_in_place(contents):
    for path, content in contents.items():
        with open(path, "wb") as file:
            file.write(content[:100])
            file.flush()
            time.sleep(0.01)
            file.write(content[100:])


def write_without_sync(contents):
    for path, content in contents.items():
        draft = path.with_suffix(".draft")
        draft.write_bytes(content)
        os.replace(draft, path)


def test_a_line_that_is_not_synced_is_found(tmp_path, rng, policies, monkeypatch):
    crashes._cut_power(tmp_path, policies[0], rng)

    def create(path, policy):
        return crashes.Interview(policy, crashes.Journal.create(path, policy))

    # Otherwise the first line is found already.
    monkeypatch.setattr(crashes, "_create_with_name_on_disk", create)
    monkeypatch.setattr(LogFile, "append", append_without_sync)
    assert is_found(lambda: crashes._cut_power(tmp_path, policies[0], rng))


def test_a_log_whose_name_is_not_synced_is_found(tmp_path, policies, monkeypatch):
    monkeypatch.setattr(LogFile, "sync_folder", lambda self: None)
    with pytest.raises(AssertionError, match="name of a log was not synced"):
        crashes._create_with_name_on_disk(tmp_path / "new.jsonl", policies[0])


@linux
def test_a_name_that_is_not_synced_is_found(tmp_path, rng, policies, monkeypatch):
    crashes._cut_power_while_saving(tmp_path, policies, rng)
    monkeypatch.setattr(_disk, "sync_folder", lambda folder: None)
    with pytest.raises(AssertionError, match="would not be left"):
        crashes._cut_power_while_saving(tmp_path, policies, rng)


@linux
def test_a_policy_that_is_not_synced_is_found(tmp_path, rng, policies, monkeypatch):
    monkeypatch.setattr(policy_file, "write_whole", write_without_sync)
    with pytest.raises(AssertionError, match="half of a policy file"):
        crashes._cut_power_while_saving(tmp_path, policies, rng)


@linux
def test_a_short_write_that_is_taken_for_a_whole_one_is_found(
    tmp_path, rng, policies, monkeypatch
):
    crashes._fill_disk(tmp_path, policies[0], rng)
    monkeypatch.setattr(LogFile, "append", append_without_sync)
    assert is_found(lambda: crashes._fill_disk(tmp_path, policies[0], rng))


@linux
@unwatched
def test_a_line_that_is_acknowledged_too_early_is_found(
    tmp_path, rng, policies, monkeypatch
):
    crashes._kill_one_interview(tmp_path, policies[0], rng)
    monkeypatch.setattr(LogFile, "append", append_later)
    assert is_found(lambda: crashes._kill_one_interview(tmp_path, policies[0], rng))


@linux
@unwatched
def test_a_step_of_a_service_that_is_not_kept_is_found(
    tmp_path, rng, policies, monkeypatch
):
    crashes._kill_one_service(tmp_path, policies[0], rng)
    monkeypatch.setattr(Store, "add", lambda self, *event: None)
    assert is_found(lambda: crashes._kill_one_service(tmp_path, policies[0], rng))


@linux
@unwatched
def test_a_policy_that_is_written_in_place_is_found(
    tmp_path, rng, policies, monkeypatch
):
    known = {policy_file.dump(policy) for policy in policies}
    crashes._kill_one_save(tmp_path, policies, known, rng)
    monkeypatch.setattr(policy_file, "write_whole", write_in_place)
    assert is_found(lambda: crashes._kill_one_save(tmp_path, policies, known, rng))


# Files.


def count_found(monkeypatch, parse, n_files=60):
    monkeypatch.setattr(files, "parse", parse)
    rng, tally = np.random.default_rng(0), target.Tally("files")
    for _ in range(n_files):
        files._try_one(rng, "policy", files.FORMATS["policy"], tally)
    return len(tally.findings)


def test_damaged_policies_are_received_well(monkeypatch):
    assert count_found(monkeypatch, policy_file.parse) == 0


def test_another_error_of_the_loader_is_found(monkeypatch, findings):
    def parse(raw, *, edited=False):
        return {}["nodes"]

    assert count_found(monkeypatch, parse) == 60
    assert any(findings.iterdir())


def test_a_loader_that_ignores_the_digest_is_found(monkeypatch):
    def parse(raw, *, edited=False):
        return policy_file.parse(raw, edited=True)

    assert count_found(monkeypatch, parse, 600) > 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs alarms")
def test_a_file_that_takes_for_ever_is_found(monkeypatch):
    def receive(raw):
        time.sleep(60)

    monkeypatch.setattr(files, "PATIENCE", 0.05)
    tally = target.Tally("files")
    form = files.Format([b"a,b"], receive, ".csv")
    before = signal.signal(signal.SIGALRM, files._raise_timeout)
    try:
        files._try_one(np.random.default_rng(0), "table", form, tally)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert "TimeoutError" in tally.findings[0]["error"]


# Models of other libraries.


FOREST = {
    "library": "sklearn", "name": "RandomForestClassifier",
    "settings": {"max_depth": 3}, "form": "numbers", "bare": False, "seed": 5,
}  # fmt: skip


def test_rows_of_a_model_are_compared():
    assert sources.compare_source(FOREST, 300) == ("equal", 300)


def test_one_row_that_differs_is_found(monkeypatch):
    predict = askless.AdaptiveEnsemble.predict

    def predict_otherwise(self, X):
        decided = predict(self, X)
        decided[7] = 1 - decided[7]
        return decided

    monkeypatch.setattr(askless.AdaptiveEnsemble, "predict", predict_otherwise)
    with pytest.raises(AssertionError, match=r"predict, row 7 .* 1 rows differ"):
        sources.compare_source(FOREST, 300)


def test_the_last_bit_of_a_probability_is_compared(monkeypatch):
    predict_proba = askless.AdaptiveEnsemble.predict_proba

    def predict_otherwise(self, X):
        return np.nextafter(predict_proba(self, X), 2)

    monkeypatch.setattr(askless.AdaptiveEnsemble, "predict_proba", predict_otherwise)
    with pytest.raises(AssertionError, match="predict_proba, row 0"):
        sources.compare_source(FOREST, 300)


def test_a_refusal_without_a_name_is_found(monkeypatch):
    def fit(self, *rows):
        raise InvalidOptionError("No.")

    monkeypatch.setattr(askless.AdaptiveEnsemble, "fit", fit)
    with pytest.raises(AssertionError, match="refused without a name"):
        sources.compare_source(FOREST, 300)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_settings_are_drawn_from_the_whole_grid(library):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    rng = np.random.default_rng(0)
    drawn = [draw_recipe(rng) for _ in range(600)]
    mine = [recipe for recipe in drawn if recipe["library"] == library]
    assert {recipe["form"] for recipe in mine} == {"numbers", "codes", "frame"}
    assert {recipe["bare"] for recipe in mine} == {False, True}
    assert len({str(recipe["settings"]) for recipe in mine}) > 150


# Threads.


def test_a_policy_that_threads_disturb_is_found(monkeypatch):
    storms.raise_storm("groups", 1)
    advance = Tree.advance

    def advance_by_way_of_self(self, state, code):
        object.__setattr__(self, "_slot", state)
        time.sleep(1e-5)
        return advance(self, self._slot, code)

    monkeypatch.setattr(Tree, "advance", advance_by_way_of_self)
    disturbed = (AssertionError, LookupError, askless.exceptions.AsklessError)
    with pytest.raises(disturbed):
        storms.raise_storm("groups", 1)


@linux
@unwatched
def test_writers_that_are_all_served_are_found(monkeypatch):
    context = multiprocessing.get_context("fork")
    monkeypatch.setattr(multiprocessing, "get_context", lambda way: context)
    monkeypatch.setattr(log_file, "_lock", lambda descriptor, path: None)
    # The pause lets the others write in between, on a busy machine too.
    monkeypatch.setattr(LogFile, "_check_writable", lambda self: time.sleep(0.01))
    assert is_found(lambda: storms.fight_for_a_log(1), times=10)


# Memory and time.


def crash():
    os.kill(os.getpid(), signal.SIGKILL)


def fail():
    raise RuntimeError("planted")


@linux
@unwatched
def test_a_crash_with_little_memory_is_found(capfd):
    with pytest.raises(AssertionError, match="killed by signal 9"):
        limits.with_little_memory(crash, 2**20)
    with pytest.raises(AssertionError, match="ended with 12"):
        limits.with_little_memory(fail, 2**20)
    assert "planted" in capfd.readouterr().err
    hungry = limits.with_little_memory(lambda: np.ones(2**28), 2**20)
    assert hungry == limits.NO_MEMORY


def test_a_time_limit_that_is_not_held_is_found(monkeypatch):
    monkeypatch.setattr(limits, "make_works", lambda rng: {})
    monkeypatch.setattr(limits, "AROUND", 0.0)
    monkeypatch.setattr(
        limits, "_limited", lambda name, limit, rng: lambda: time.sleep(1.3 * limit)
    )
    tally = target.Tally("limits")
    # Sleep is no work: by default that is taken for a busy machine.
    limits.try_limits(target.Budget(0.5, seed=3), tally)
    assert not tally.findings
    assert tally.counts["time limits not judged: others had the processor"] > 0
    monkeypatch.setattr(limits, "BUSY", 0.0)
    limits.try_limits(target.Budget(0.5, seed=3), tally)
    assert tally.findings[0]["file"].startswith("time-")


# What comes home.


def test_different_things_are_counted_once_over_all_runs(tmp_path, monkeypatch):
    from campaign import run

    monkeypatch.setattr(run, "RESULTS", tmp_path)
    for number, seen in enumerate(["ab", "bc"]):
        tally = target.Tally("sources")
        tally.counts["models"] = 2
        for kind in seen:
            tally.note_kind("settings", kind)
        Path(tmp_path, f"sources-{number}.json").write_text(tally.to_json())
    total = run.add_up()["sources"]
    assert total["counts"]["models"] == 4
    assert len(total["kinds"]["settings"]) == 3


def test_runs_whose_files_are_gone_are_counted(tmp_path, monkeypatch):
    from campaign import run

    monkeypatch.setattr(run, "RESULTS", tmp_path)
    tally = target.Tally("sources")
    tally.counts["models"] = 2
    tally.note_kind("settings", "a")
    Path(tmp_path, "sources-1.json").write_text(tally.to_json())
    earlier = {"sources": {"counts": {"models": 5}, "kinds": {"settings": 3}}}
    total = run.add_up(earlier)["sources"]
    assert total["counts"]["models"] == 7
    # The one may be among the three.
    assert run._count_kinds(total) == {"settings": 3}
