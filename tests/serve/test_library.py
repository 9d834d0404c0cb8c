"""Policies are served by name and version, and swapped in while requests come."""

import threading
import time

import pytest

import askless
from askless.exceptions import InvalidOptionError, PolicyFileError, UnknownNameError
from askless.policy._file import policy_digest
from askless.serve.kept._library import MAX_VERSIONS, Library
from askless.serve.kept._store import Store

pytest.importorskip("starlette", reason="needs the extra serve")


def make_policy(n):
    """Return a policy that is another one for each n."""
    table = askless.Table([[0], [1]], ["even", f"odd {n}"], tests=["last bit"])
    return askless.solve(table).policy


def test_files_folders_and_policies_are_served(tmp_path, car):
    folder = tmp_path / "all"
    folder.mkdir()
    car.save(folder / "car.json")
    make_policy(1).save(tmp_path / "bit.json")
    library = Library([folder, tmp_path / "bit.json", ("own", make_policy(2))])
    assert library.names() == ["bit", "car", "own"]
    assert library.find("car").digest == policy_digest(car)


def test_a_new_file_takes_the_place_of_the_old_one(tmp_path):
    make_policy(1).save(tmp_path / "bit.json")
    library = Library([tmp_path])
    old = library.find("bit")
    make_policy(2).save(tmp_path / "bit.json")
    make_policy(3).save(tmp_path / "more.json")
    library.look()
    assert library.find("bit").policy.classes == ("even", "odd 2")
    assert library.find("bit", old.digest) is old
    assert library.names() == ["bit", "more"]


def test_a_file_that_is_wrong_changes_nothing(tmp_path):
    make_policy(1).save(tmp_path / "bit.json")
    library = Library([tmp_path])
    whole = (tmp_path / "bit.json").read_bytes()
    (tmp_path / "bit.json").write_bytes(whole[:-20])
    library.look()
    assert library.find("bit").policy.classes == ("even", "odd 1")
    assert "valid JSON" in library.problems["bit.json"]
    make_policy(2).save(tmp_path / "bit.json")
    library.look()
    assert library.find("bit").policy.classes == ("even", "odd 2")
    assert library.problems == {}


def test_a_file_that_is_gone_is_no_longer_offered(tmp_path):
    make_policy(1).save(tmp_path / "bit.json")
    library = Library([tmp_path])
    old = library.find("bit")
    (tmp_path / "bit.json").unlink()
    library.look()
    assert library.names() == ["bit"], "it may be about to be replaced"
    library.look()
    assert library.names() == []
    # Sessions go on.
    assert library.find("bit", old.digest) is old


def test_requests_look_at_folders_aside(tmp_path, monkeypatch):
    monkeypatch.setattr("askless.serve.kept._library.LOOK_EVERY", 0.0)
    make_policy(1).save(tmp_path / "bit.json")
    library = Library([tmp_path])
    make_policy(2).save(tmp_path / "bit.json")
    end = time.monotonic() + 10
    while library.find("bit").policy.classes[1] != "odd 2":
        assert time.monotonic() < end
        library.refresh()
        time.sleep(0.01)


def test_versions_that_are_no_longer_in_memory_are_recalled(tmp_path):
    make_policy(0).save(tmp_path / "bit.json")
    library = Library([tmp_path], Store(tmp_path / "db"))
    old = library.find("bit").digest
    for n in range(1, MAX_VERSIONS + 2):
        library.add("bit", make_policy(n))
    assert library.find("bit", old).policy.classes == ("even", "odd 0")
    # Another process, later, that has never seen the old file.
    make_policy(99).save(tmp_path / "bit.json")
    later = Library([tmp_path], Store(tmp_path / "db"))
    assert later.find("bit", old).policy.classes == ("even", "odd 0")
    assert later.find("bit").policy.classes == ("even", "odd 99")
    with pytest.raises(UnknownNameError, match="version must be one that is still"):
        later.find("bit", "sha256:" + "0" * 64)


def test_a_session_stays_with_its_version(serve, tmp_path):
    make_policy(1).save(tmp_path / "bit.json")
    service = serve(tmp_path, db=tmp_path / "sessions.db")
    session = service.begin("bit")
    make_policy(2).save(tmp_path / "bit.json")
    service.api.library.look()
    service.api.sessions.forget(session)
    done = service.post(f"/v1/sessions/{session}/answer", {"outcome": 1}).json()
    assert done["decision"] == "odd 1"
    other = service.begin("bit")
    done = service.post(f"/v1/sessions/{other}/answer", {"outcome": 1}).json()
    assert done["decision"] == "odd 2"
    # And after the service was started again.
    again = serve(tmp_path, db=tmp_path / "sessions.db")
    assert again.get(f"/v1/sessions/{session}").json()["decision"] == "odd 1"


def test_names_are_checked(tmp_path):
    with pytest.raises(InvalidOptionError, match="letters, digits, dots"):
        Library([("../car", make_policy(1))])
    with pytest.raises(InvalidOptionError, match="Got 'a' twice"):
        Library([("a", make_policy(1)), ("a", make_policy(2))])
    with pytest.raises(InvalidOptionError, match="There must be a policy"):
        Library([])
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(PolicyFileError, match=r"bad\.json"):
        Library([tmp_path])


def test_no_request_fails_while_policies_are_swapped(serve, tmp_path, monkeypatch):
    monkeypatch.setattr("askless.serve.kept._library.LOOK_EVERY", 0.0)
    make_policy(0).save(tmp_path / "bit.json")
    service = serve(tmp_path)
    stop, failures, counts = threading.Event(), [], []

    def ask():
        n = 0
        while not stop.is_set():
            session = service.begin("bit")
            done = service.post(f"/v1/sessions/{session}/answer", {"outcome": 1})
            if not done.is_success or not done.json()["done"]:
                failures.append(done.text)
            n += 1
        counts.append(n)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(1, 15):
        make_policy(n).save(tmp_path / "bit.json")
        time.sleep(0.03)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(counts) > 0
    service.api.library.look()
    assert service.api.library.find("bit").policy.classes[1] == "odd 14"
