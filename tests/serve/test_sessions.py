"""Sessions outlive requests, processes and versions, and no two writers mix."""

import gc
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import askless
from askless.exceptions import DataFileError, InvalidOptionError, UnknownNameError
from askless.serve.kept._library import Library
from askless.serve.kept._sessions import MAX_EVENTS, Sessions, StaleStep
from askless.serve.kept._store import Conflict, Repeat, Store, StoreError
from tests.policy.examples import EXAMPLES, make_example

pytest.importorskip("starlette", reason="needs the extra serve")


@pytest.fixture
def library(car):
    return Library([("car", car)])


def test_a_session_is_replayed_from_its_events(library, tmp_path):
    first = Sessions(library, Store(tmp_path / "db"))
    live = first.begin(library.find("car"))
    first.change(live.id, lambda i: i.answer("none"))
    first.change(live.id, lambda i: i.unsure())
    first.change(live.id, lambda i: i.undo())
    first.change(live.id, lambda i: i.skip())
    second = Sessions(library, Store(tmp_path / "db"))
    again = second.find(live.id)
    assert again.interview.session.log == live.interview.session.log
    assert again.interview.session.spent == live.interview.session.spent
    assert again.step == live.step == 4


def test_a_number_that_is_compared_twice_is_one_step(tmp_path):
    policy = make_example("numbers")
    library = Library([("it", policy)])
    sessions = Sessions(library, Store(tmp_path / "db"))
    live = sessions.begin(library.find("it"))
    while not live.interview.is_over:
        sessions.change(live.id, lambda i: i.answer(39.0))
    asked = [entry["test"] for entry in live.interview.session.log]
    assert len(asked) > len(set(asked)), "the example must compare a number twice"
    # Taking it back takes back all that followed by itself.
    sessions.change(live.id, lambda i: i.undo())
    assert not live.interview.is_over
    again = Sessions(library, Store(tmp_path / "db")).find(live.id)
    assert again.interview.session.log == live.interview.session.log


def test_steps_are_whole(library, monkeypatch):
    """What cannot be kept has not happened."""
    store = Store()
    sessions = Sessions(library, store)
    live = sessions.begin(library.find("car"))

    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(store, "add", fail)
        with pytest.raises(OSError, match="disk full"):
            sessions.change(live.id, lambda i: i.answer("none"))
    assert (live.step, live.interview.session.spent) == (0, 0.0)
    sessions.change(live.id, lambda i: i.answer("none"))
    assert (live.step, live.interview.session.spent) == (1, 1.0)


def test_two_processes_that_write_one_session(library, tmp_path):
    first = Sessions(library, Store(tmp_path / "db"))
    second = Sessions(library, Store(tmp_path / "db"))
    live = first.begin(library.find("car"))
    assert second.find(live.id).step == 0
    first.change(live.id, lambda i: i.answer("none"), step=0)
    # The other has seen step 0, and must not write over it.
    with pytest.raises(StaleStep, match="step 0 is over"):
        second.change(live.id, lambda i: i.answer("slow"), step=0)
    # Even if it looks before and writes after the first.
    stale = second.find(live.id)

    def meanwhile(interview):
        first.change(live.id, lambda i: i.skip())
        interview.answer("dim")

    with pytest.raises(StaleStep, match="another program"):
        second.change(live.id, meanwhile)
    assert stale.interview.session.log == live.interview.session.log
    assert stale.step == live.step == 2


def test_threads_that_write_one_session_make_one_log(library):
    sessions = Sessions(library, Store())
    live = sessions.begin(library.find("car"))
    start = threading.Barrier(8)

    def click(_):
        start.wait()
        try:
            sessions.change(live.id, lambda i: i.answer("none"), step=0)
        except StaleStep:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(click, range(8))) == 1
    assert len(sessions.store.events(live.id)) == 1


def test_many_sessions_at_once_all_come_to_their_end(library, car):
    sessions = Sessions(library, Store(), max_live=5)

    def run(seed):
        live = sessions.begin(library.find("car"))
        while not live.interview.is_over:
            test = car.test_by_name[live.interview.session.test]
            outcome = test.outcomes[seed % len(test.outcomes)]
            live = sessions.change(live.id, lambda i, o=outcome: i.answer(o))
        return live.interview.session.decision, live.interview.session.spent

    def alone(seed):
        session = car.start()
        while session.test is not None:
            outcomes = car.test_by_name[session.test].outcomes
            session.answer(outcomes[seed % len(outcomes)])
        return session.decision, session.spent

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(run, range(100)))
    assert found == [alone(seed) for seed in range(100)]


def test_a_repeated_request_is_done_once(library):
    sessions = Sessions(library, Store())
    live = sessions.begin(library.find("car"))
    repeat = Repeat("k", "answer none")
    for _ in range(3):
        sessions.change(live.id, lambda i: i.answer("none"), step=0, repeat=repeat)
    assert live.step == 1
    with pytest.raises(InvalidOptionError, match="one request only"):
        sessions.change(
            live.id, lambda i: i.answer("slow"), repeat=Repeat("k", "answer slow")
        )


def test_what_is_not_understood_changes_nothing(library):
    sessions = Sessions(library, Store())
    live = sessions.begin(library.find("car"))
    with pytest.raises(askless.exceptions.InvalidAnswerError, match="shows one of"):
        sessions.change(live.id, lambda i: i.answer("purple"))
    assert live.step == 0
    assert sessions.store.events(live.id) == []


def test_a_session_has_so_many_events(library):
    sessions = Sessions(library, Store())
    live = sessions.begin(library.find("car"))
    live.step = MAX_EVENTS
    with pytest.raises(askless.exceptions.InvalidAnswerError, match="at most 10000"):
        sessions.change(live.id, lambda i: i.skip())


def test_sessions_of_others_are_not_known(library):
    sessions = Sessions(library, Store())
    live = sessions.begin(library.find("car"), "me")
    for session, owner in ((live.id, "you"), (live.id, ""), ("guess", "me"), ("", "")):
        with pytest.raises(UnknownNameError, match="identifier that is not known"):
            sessions.find(session, owner)
    assert sessions.find(live.id, "me") is live


def test_identifiers_cannot_be_guessed(library):
    sessions = Sessions(library, Store())
    found = {sessions.begin(library.find("car")).id for _ in range(200)}
    assert len(found) == 200
    assert min(map(len, found)) >= 32


def test_events_are_added_all_or_none(tmp_path):
    store = Store(tmp_path / "db")
    store.begin("s", "car", "sha256:0", "")
    store.add("s", 1, [{"taken": 1}])
    with pytest.raises(Conflict):
        store.add("s", 0, [{"first": 1}, {"second": 1}])
    assert [event["taken"] for event in store.log("s")] == [1]
    with pytest.raises(StoreError, match="lacks an event"):
        store.events("s")


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "db"
    path.write_bytes(b"no database " * 100)
    with pytest.raises(DataFileError, match="must be a writable SQLite file"):
        Store(path)


DAMAGE = {
    "UPDATE events SET body = '[1]'": "in an event",
    "UPDATE events SET body = x'ff'": "in an event",
    "UPDATE events SET number = 'x'": "not whole",
    "UPDATE sessions SET digest = x'00'": "not a text",
    "UPDATE policies SET content = x'00'": "in a policy",
    "UPDATE policies SET content = 5": "in a policy",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_rows_that_nobody_wrote_are_refused(tmp_path, damage):
    store = Store(tmp_path / "db")
    store.begin("s", "car", "sha256:0", "")
    store.add("s", 0, [{"test": "lamp"}])
    store.keep_policy("sha256:0", b"{}")

    def read():
        store.find("s")
        store.n_events("s")
        store.events("s")
        store.policy("sha256:0")

    read()
    with sqlite3.connect(tmp_path / "db") as db:
        db.execute(damage)
    db.close()
    with pytest.raises(StoreError, match=DAMAGE[damage]):
        read()
    store.close()


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "db"
    Store(path).close()
    whole = path.read_bytes()
    # Words of the file in what SQLite says of it need not be text.
    path.write_bytes(whole.replace(b"content BLOB", b"content \xbd\xbd\xbd("))
    with pytest.raises(StoreError, match="must be a writable SQLite file"):
        Store(path)
    path.write_bytes(whole.replace(b"digest TEXT NOT NULL", b"digest INT5 NOT NULL"))
    with pytest.raises(StoreError, match="not those of sessions"):
        Store(path)


def test_a_full_disk_is_told(tmp_path):
    store = Store(tmp_path / "db")
    store.begin("s", "car", "sha256:0", "")
    with store._lock:
        n_pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count={n_pages}")
    with pytest.raises(StoreError, match="full"):
        store.add("s", 0, [{"test": "x" * 100_000}])
    assert store.events("s") == []
    store.close()


def test_nothing_of_the_file_is_told_to_visitors():
    from askless.serve._respond import explain_error

    status, said = explain_error(StoreError("A must hold. Got B for /srv/db. Do C."))
    assert status == 500
    assert "/srv" not in str(said)


def test_a_file_of_a_newer_version_is_refused(tmp_path):
    store = Store(tmp_path / "db")
    store._db.execute("PRAGMA user_version=99")
    store.close()
    with pytest.raises(DataFileError, match="Update to the newer Askless"):
        Store(tmp_path / "db")


def test_a_power_cut_can_be_waited_for(tmp_path):
    store = Store(tmp_path / "db", durable=True)
    assert store._db.execute("PRAGMA synchronous").fetchone()[0] == 2
    assert store._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_the_log_of_writes_does_not_grow_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("askless.serve.kept._store.MOVE_EVERY", 0.02)
    monkeypatch.setattr("askless.serve.kept._store.LEAST_MOVED", 10_000)
    monkeypatch.setattr("askless.serve.kept._store.MOST_LOGGED", 100_000)
    store = Store(tmp_path / "db")
    store.begin("s", "car", "sha256:0", "")
    for number in range(2_000):
        store.add("s", number, [{"test": "lamp", "outcome": "dim", "paid": 1.0}])
    end = time.monotonic() + 10
    while (tmp_path / "db-wal").stat().st_size > 100_000:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert len(store.events("s")) == 2_000
    store.close()
    assert not (tmp_path / "db-wal").exists()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_session_that_ends_holds_no_cycle(name):
    # The collector is kept from looking at old sessions: they must be freed without it.
    library = Library([("p", make_example(name))])
    sessions = Sessions(library, Store(), max_live=1)

    def go():
        live = sessions.begin(library.find("p"))
        for _ in range(3):
            if not live.interview.is_over:
                live = sessions.change(live.id, lambda i: i.skip())

    go()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            go()
        assert gc.collect() == 0
    finally:
        gc.enable()
