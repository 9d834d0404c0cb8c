"""Logs under attack: full disks, two writers, odd answers, torn lines, Ctrl-C."""

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import askless
from askless.exceptions import (
    DataFileError,
    InvalidAnswerError,
    LogInUseError,
    LogWriteError,
)
from askless.policy import Sequence
from askless.run import Interview, Journal, repair_log, replay_log

FILES = Path(__file__).parent / "files"


@pytest.fixture
def policy():
    return Sequence.from_table(askless.datasets.load_questions(), stops_early=False)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "case.jsonl"


def start(policy, log):
    return Interview(policy, Journal.create(log, policy))


def answer_first(interview):
    test = interview.session.policy.test_by_name[interview.session.test]
    interview.answer(test.outcomes[0])


def number_policy():
    rng = np.random.default_rng(0)
    rows = np.round(rng.normal(size=(60, 4)), 2)
    learner = askless.GreedyTreeClassifier().fit(rows, [str(i % 4) for i in range(60)])
    return learner.policy_


# A disk that fills up.

FULL_DISK = """
import resource, signal, sys
import askless
from askless.exceptions import LogWriteError
from askless.policy import Sequence
from askless.run import Interview, Journal, replay_log

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
room = int(sys.argv[2])
policy = Sequence.from_table(askless.datasets.load_questions(), stops_early=False)
interview = Interview(policy, Journal.create(sys.argv[1], policy))

def answer():
    test = policy.test_by_name[interview.session.test]
    interview.answer(test.outcomes[0])

import os
size = os.stat(sys.argv[1]).st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
acknowledged = 0
try:
    while not interview.is_over:
        answer()
        acknowledged += 1
except LogWriteError as error:
    assert "as it was before" in str(error), error
else:
    raise AssertionError("the disk never filled up")
assert len(interview.session.log) == acknowledged
assert len(replay_log(sys.argv[1], policy).log) == acknowledged
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
while not interview.is_over:
    answer()
interview.close()
session = replay_log(sys.argv[1], policy)
assert session.decision == interview.session.decision
assert session.spent == interview.session.spent
print("kept", acknowledged)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
@pytest.mark.parametrize("room", [0, 1, 57, 250, 251, 300])
def test_a_full_disk_loses_no_acknowledged_answer(log, room):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(log), str(room)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("kept")


def test_a_short_write_is_gone_on_with(policy, log, monkeypatch):
    interview = start(policy, log)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data[:7])))
    answer_first(interview)
    answer_first(interview)
    monkeypatch.undo()
    interview.close()
    assert len(replay_log(log, policy).log) == 2


def test_a_log_that_cannot_be_cut_back_is_written_no_more(policy, log, monkeypatch):
    interview = start(policy, log)
    answer_first(interview)

    def fail(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LogWriteError, match="Input/output error"):
        answer_first(interview)
    monkeypatch.undo()
    with pytest.raises(LogWriteError, match="which could not be written"):
        answer_first(interview)
    interview.close()
    again = Interview.resume(policy, log)
    n_kept = len(again.session.log)
    answer_first(again)
    again.close()
    assert len(replay_log(log, policy).log) == n_kept + 1


def test_a_log_whose_first_line_failed_leaves_no_file(policy, log, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(DataFileError, match="No space left on device"):
        Journal.create(log, policy)
    monkeypatch.undo()
    assert not log.exists()
    Journal.create(log, policy).close()


# Two writers.


def test_a_second_writer_is_refused(policy, log):
    first = start(policy, log)
    answer_first(first)
    with pytest.raises(LogInUseError, match="Only one program may write a log"):
        Interview.resume(policy, log)
    answer_first(first)
    first.close()
    second = Interview.resume(policy, log)
    assert len(second.session.log) == 2
    second.close()


@pytest.mark.skipif(sys.platform == "win32", reason="locks differ")
def test_a_second_process_is_refused_and_a_killed_one_gives_the_log_back(policy, log):
    start(policy, log).close()
    hold = (
        "import sys, askless\n"
        "from askless.policy import Sequence\n"
        "from askless.run import Interview\n"
        "policy = Sequence.from_table(askless.datasets.load_questions(),"
        " stops_early=False)\n"
        "interview = Interview.resume(policy, sys.argv[1])\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LogInUseError):
            Interview.resume(policy, log)
        replay_log(log, policy)  # reading is free
        other.kill()
        other.wait()
        Interview.resume(policy, log).close()


def test_a_log_that_others_have_changed_is_not_written(policy, log):
    interview = start(policy, log)
    with open(log, "ab") as other:
        other.write(b'{"undo": true}\n')
    with pytest.raises(LogInUseError, match="other bytes"):
        answer_first(interview)
    assert interview.session.log == []
    interview.journal.close()


# Answers that JSON cannot hold.


def test_an_infinite_answer_is_refused_before_anything_moves(log):
    policy = number_policy()
    interview = start(policy, log)
    content = log.read_bytes()
    with pytest.raises(InvalidAnswerError, match="finite number or missing"):
        interview.answer(float("inf"))
    assert interview.session.spent == 0
    assert log.read_bytes() == content
    while not interview.is_over:
        interview.answer(0.1)
    interview.close()
    assert replay_log(log, policy).spent == interview.session.spent


def test_a_decimal_is_logged_as_a_number(log):
    policy = number_policy()
    interview = start(policy, log)
    interview.answer(Decimal("0.5"))
    assert interview.session.log[0]["outcome"] == 0.5
    interview.close()
    assert replay_log(log, policy).log == interview.session.log


def test_the_command_line_asks_again_after_an_infinite_answer(tmp_path):
    policy = number_policy()
    policy.save(tmp_path / "p.json")
    log = tmp_path / "c.jsonl"
    command = [sys.executable, "-m", "askless", "ask", tmp_path / "p.json", "--json"]
    done = subprocess.run(
        [*command, "--log", log],
        input='{"answer": 1e999}\n' + '{"answer": 0.1}\n' * 9,
        capture_output=True,
        text=True,
    )
    assert "finite number or missing" in done.stdout
    assert "Traceback" not in done.stderr
    assert replay_log(log, policy).decision is not None


# Torn lines.


def make_log(policy, log, n_answers=4):
    interview = start(policy, log)
    for _ in range(n_answers):
        answer_first(interview)
    interview.close()
    return log.read_bytes().splitlines(keepends=True)


def test_a_torn_line_in_the_middle_can_be_repaired(policy, log):
    lines = make_log(policy, log)
    torn = b"".join([*lines[:3], lines[3][:10] + lines[4]])
    log.write_bytes(torn)
    with pytest.raises(DataFileError, match=r"line 4 .*askless ask --repair"):
        replay_log(log, policy)
    repair = repair_log(log, policy)
    assert (repair.n_kept, repair.n_dropped) == (3, 1)
    assert repair.backup.read_bytes() == torn
    assert log.read_bytes() == b"".join(lines[:3])
    interview = Interview.resume(policy, log)
    assert len(interview.session.log) == 2
    interview.close()


def test_lines_of_another_writer_are_cut_off(policy, log):
    lines = make_log(policy, log)
    log.write_bytes(b"".join([*lines, lines[2], lines[3]]))
    repair = repair_log(log, policy)
    assert (repair.n_kept, repair.n_dropped) == (5, 2)
    assert len(replay_log(log, policy).log) == 4


def test_a_log_in_order_is_left_alone(policy, log):
    lines = make_log(policy, log)
    assert repair_log(log, policy) == (5, 0, None)
    assert log.read_bytes() == b"".join(lines)
    assert [p.name for p in log.parent.iterdir()] == [log.name]


def test_damaged_logs_never_overwrite_one_another(policy, log):
    lines = make_log(policy, log)
    names = set()
    for n_bytes in (3, 5):
        log.write_bytes(b"".join(lines)[:-n_bytes])
        names.add(repair_log(log, policy).backup.name)
    assert names == {"case.jsonl.damaged-1", "case.jsonl.damaged-2"}


def test_what_is_no_log_is_not_repaired(policy, log):
    log.write_bytes(b"hello\nworld\n")
    with pytest.raises(DataFileError, match="JSON object"):
        repair_log(log, policy)
    log.write_bytes(b"")
    with pytest.raises(DataFileError, match="must begin with its format"):
        repair_log(log, policy)


def test_every_cut_of_a_log_resumes_to_its_whole_lines(policy, log):
    content = b"".join(make_log(policy, log))
    first = content.index(b"\n") + 1
    for n_bytes in range(first, len(content) + 1, 7):
        log.write_bytes(content[:n_bytes])
        interview = Interview.resume(policy, log)
        assert len(interview.session.log) == content[:n_bytes].count(b"\n") - 1
        answer_first(interview)
        interview.close()
        replay_log(log, policy)


def test_ask_repairs_a_log(tmp_path, policy, log):
    policy.save(tmp_path / "p.json")
    lines = make_log(policy, log)
    log.write_bytes(b"".join([*lines[:3], b"{torn\n", lines[3]]))
    command = [sys.executable, "-m", "askless", "ask", tmp_path / "p.json"]
    done = subprocess.run(
        [*command, "--repair", log], capture_output=True, text=True, check=True
    )
    assert "3 lines kept, 2 dropped" in done.stdout
    assert "case.jsonl.damaged-1" in done.stdout
    assert len(replay_log(log, policy).log) == 2


# Ctrl-C.


def test_an_interrupt_after_the_line_was_written_costs_nothing(
    policy, log, monkeypatch
):
    interview = start(policy, log)
    take = askless.Session.take

    def interrupted(self, step):
        raise KeyboardInterrupt

    monkeypatch.setattr(askless.Session, "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        answer_first(interview)
    monkeypatch.setattr(askless.Session, "take", take)
    answer_first(interview)
    interview.close()
    assert len(replay_log(log, policy).log) == 2
    assert len(interview.session.log) == 2


def test_undo_at_the_start_is_not_logged(policy, log):
    interview = start(policy, log)
    content = log.read_bytes()
    with pytest.raises(InvalidAnswerError, match="an answer to take back"):
        interview.undo()
    assert log.read_bytes() == content
    interview.close()


def test_a_step_planned_before_the_session_moved_is_refused(policy):
    session = policy.start()
    outcome = policy.test_by_name[session.test].outcomes[0]
    step = session.plan_answer(outcome)
    session.answer(outcome)
    with pytest.raises(InvalidAnswerError, match="planned before it moved"):
        session.take(step)


# Versions.


def test_a_log_of_an_earlier_version_still_replays():
    policy = askless.load(FILES / "lamp-1.json")
    session = replay_log(FILES / "lamp-1.jsonl", policy)
    assert session.decision == "dimmer"
    assert session.spent == 1.0


def test_a_log_of_a_newer_version_is_refused(policy, log):
    make_log(policy, log)
    newer = log.read_bytes().replace(b'"version": 1', b'"version": 2', 1)
    log.write_bytes(newer)
    with pytest.raises(DataFileError, match="newer Askless"):
        replay_log(log, policy)
