"""Tables are read cell by cell, solved while someone watches, and served."""

import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import askless
from askless.exceptions import InvalidOptionError
from askless.serve import Limits
from askless.serve.pages._sheet import Cell, read_sheet
from tests.serve.service import Thread

httpx = pytest.importorskip("httpx", reason="needs the extra serve")
pytest.importorskip("starlette", reason="needs the extra serve")

README = Path(__file__).parents[2] / "README.md"


def readme_file(name):
    """Return a file that the README shows."""
    _, _, rest = README.read_text("utf-8").partition(
        f"<!-- file: {name} -->\n```text\n"
    )
    return rest.partition("```")[0]


def hard_table(n_cases=300, n_tests=25):
    """Return a table that takes a search long."""
    rng = np.random.default_rng(0)
    names = [f"t{i}" for i in range(n_tests)]
    lines = [",".join([*names, "class"])]
    for case in range(n_cases):
        cells = map(str, rng.integers(0, 2, n_tests))
        lines.append(",".join([*cells, f"k{case % (n_cases // 5)}"]))
    return "\n".join(lines)


def read_events(response):
    event = None
    for line in response.iter_lines():
        name, _, rest = line.partition(": ")
        if name == "event":
            event = rest
        elif name == "data":
            yield event, json.loads(rest)


@pytest.fixture(scope="module")
def server(car):
    with Thread([("car", car)], limits=Limits(n_searches=1)) as server:
        yield server


# What is typed.


def test_a_table_is_read_as_the_library_reads_it(tmp_path):
    (tmp_path / "bike.csv").write_text(readme_file("bike.csv"))
    costs = askless.read_costs(write(tmp_path, "costs.csv", "bike.costs.csv"))
    whole = askless.read_table(
        tmp_path / "bike.csv", "repair", costs=costs, prior="prior"
    )
    sheet = read_sheet(readme_file("bike.csv"), readme_file("bike.costs.csv"))
    table = sheet.to_table({}, {})
    assert table.test_names == whole.test_names
    assert askless.solve(table).expected_cost == askless.solve(whole).expected_cost
    assert (table.prior == whole.prior).all()


def write(folder, name, shown):
    path = folder / name
    path.write_text(readme_file(shown))
    return path


def test_sliders_change_prices_and_weights():
    sheet = read_sheet(readme_file("bike.csv"), readme_file("bike.costs.csv"))
    table = sheet.to_table({"gears": 0.5, "nothing": 7}, {"new chain": 3})
    assert table.prices.full.tolist() == [1.0, 0.5, 2.0, 1.0]
    plain = sheet.to_table({}, {}).prior
    expected = plain * np.where(np.arange(len(plain)) == 1, 3, 1)
    assert table.prior == pytest.approx(expected / expected.sum() * table.prior.sum())


GROUPED = (
    "test,cost,discounted_cost,group,delayed\n"
    "symptom,4,1,look,0\ngears,6,3,look,0\nchain,2,,,1\npressure,1,,,\n"
)


def test_groups_and_delays_are_read_as_the_library_reads_them(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(GROUPED)
    (tmp_path / "bike.csv").write_text(readme_file("bike.csv"))
    whole = askless.read_table(
        tmp_path / "bike.csv", "repair", costs=askless.read_costs(path), prior="prior"
    )
    sheet = read_sheet(readme_file("bike.csv"), GROUPED)
    assert sheet.problems == []
    table = sheet.to_table({}, {})
    assert table.costs == whole.costs
    assert askless.solve(table).expected_cost == askless.solve(whole).expected_cost
    # A discount moves with its price.
    dearer = sheet.to_table({"symptom": 8.0}, {}).costs
    assert (dearer.costs["symptom"], dearer.discounted["symptom"]) == (8.0, 2.0)


@pytest.mark.parametrize("sign", [";", "\t"])
def test_cells_may_be_separated_as_spreadsheets_do(sign):
    text = f"volts{sign}prior{sign}cause\n3,5{sign}0,5{sign}fuse\n4{sign}1{sign}bulb\n"
    sheet = read_sheet(text, f"test{sign}cost\nvolts{sign}1,5\n")
    assert sheet.problems == []
    assert sheet.rows == [["3.5", "0.5", "fuse"], ["4", "1", "bulb"]]
    assert sheet.prices == {"volts": 1.5}
    assert sheet.class_shares == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("table", "costs", "problem"),
    [
        ("a,a,c\n1,2,x\n", "", Cell("table", 1, 2, "same name", "a")),
        ("a,,c\n1,2,x\n", "", Cell("table", 1, 2, "no name", "")),
        ("a,c\n1\n", "", Cell("table", 2, 0, "wrong length", "1 / 2")),
        ("a,c\n1,x\n\n1,2,3\n", "", Cell("table", 4, 0, "wrong length", "3 / 2")),
        ("a,c\n1,\n", "", Cell("table", 2, 2, "no class", "")),
        ("a,prior,c\n1,lots,x\n", "", Cell("table", 2, 2, "bad prior", "lots")),
        ("a,prior,c\n1,-1,x\n", "", Cell("table", 2, 2, "bad prior", "-1")),
        ("a\n1\n", "", Cell("table", 1, 0, "too few columns", "")),
        ("a,c\n", "", Cell("table", 0, 0, "no rows", "")),
        ("a,c\n1,x\n", "test,cost\na,-2\n", Cell("costs", 2, 2, "bad price", "-2")),
        ("a,c\n1,x\n", "test,cost\na,nan\n", Cell("costs", 2, 2, "bad price", "nan")),
        ("a,c\n1,x\n", "test,cost\nb,2\n", Cell("costs", 2, 1, "no such test", "b")),
        ("a,c\n1,x\n", "test,cost\nb\n", Cell("costs", 2, 0, "wrong length", "1 / 2")),
        ("a,c\n1,x\n", "a,b\n1,2\n", Cell("costs", 1, 0, "no test and cost", "a, b")),
        (
            "a,c\n1,x\n",
            "test,cost\na,2\na,3\n",
            Cell("costs", 3, 1, "test again", "a"),
        ),
        (
            "a,c\n1,x\n",
            "test,cost,discounted_cost,group\na,2,3,g\n",
            Cell("costs", 2, 3, "too dear together", "3"),
        ),
        (
            "a,c\n1,x\n",
            "test,cost,delayed\na,2,late\n",
            Cell("costs", 2, 3, "bad mark", "late"),
        ),
        (
            "a,c\n" + "1,x\n" * 5_001,
            "",
            Cell("table", 0, 0, "too many rows", "5001"),
        ),
        (
            ",".join(f"a{i}" for i in range(301)) + "\n",
            "",
            Cell("table", 1, 0, "too many columns", "301"),
        ),
    ],
    ids=lambda value: value.what if isinstance(value, Cell) else "",
)
def test_what_is_wrong_is_found_where_it_is(table, costs, problem):
    sheet = read_sheet(table, costs)
    assert problem in sheet.problems
    with pytest.raises(InvalidOptionError, match="must be whole to be solved"):
        sheet.to_table({}, {})


def test_every_problem_can_be_told(server):
    from askless.serve.pages._studio_page import SAID

    table = "a,a,,prior,c\n1,2,3,x,\n1\n"
    found = httpx.post(
        f"{server.address}/studio/check", json={"table": table, "costs": "x\n"}
    ).json()
    assert len(found["problems"]) >= 5
    for problem in found["problems"]:
        assert problem["what"] in SAID


# Solving.


def test_the_table_of_the_readme_is_solved(server):
    body = {
        "table": readme_file("bike.csv"),
        "costs": readme_file("bike.costs.csv"),
    }
    with httpx.stream("POST", f"{server.address}/studio/solve", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = list(read_events(response))
    assert events[0][0] == "first"
    name, done = events[-1]
    assert (name, done["status"]) == ("done", "optimal")
    sheet = read_sheet(body["table"], body["costs"])
    solution = askless.solve(sheet.to_table({}, {}))
    assert done["expected"] == pytest.approx(solution.expected_cost)
    bounds = [told["bound"] for _, told in events]
    assert bounds[0] < bounds[-1]
    assert done["picture"].startswith("<svg")
    assert "chain" in done["text"]


def wait_until_free(server):
    """Wait until no search runs."""
    body = {"table": readme_file("bike.csv")}
    end = time.monotonic() + 30
    while time.monotonic() < end:
        answer = httpx.post(f"{server.address}/studio/solve", json=body, timeout=30)
        if answer.status_code == 200:
            return
        assert answer.status_code == 503
        assert "As many searches run" in answer.json()["error"]
        time.sleep(0.05)
    raise AssertionError("the search was not stopped")


def test_a_search_stops_when_the_page_is_left(server):
    body = {"table": hard_table(), "seconds": 60}
    with httpx.stream(
        "POST", f"{server.address}/studio/solve", json=body, timeout=30
    ) as response:
        events = read_events(response)
        assert next(events)[0] == "first"
        assert next(events)[0] == "progress"
        # One search at a time is let in.
        busy = httpx.post(f"{server.address}/studio/solve", json=body)
        assert busy.status_code == 503
    left = time.monotonic()
    wait_until_free(server)
    assert time.monotonic() - left < 20


def test_a_search_ends_in_time(car):
    with Thread([("car", car)], limits=Limits(solve_seconds=0.5)) as server:
        body = {"table": hard_table(), "seconds": 3000}
        started = time.monotonic()
        with httpx.stream(
            "POST", f"{server.address}/studio/solve", json=body, timeout=60
        ) as response:
            events = list(read_events(response))
        assert time.monotonic() - started < 30
    assert events[-1][0] == "done"
    assert events[-1][1]["status"] == "feasible"
    assert events[-1][1]["bound"] <= events[-1][1]["best"]


@pytest.mark.parametrize(
    "body",
    [
        {"table": "a,a\n1\n"},
        {"table": "a,c\n1,x\n", "seconds": -1},
        {"table": "a,c\n1,x\n", "objective": "both"},
        {"table": "a,c\n1,x\n", "prices": {"a": -1}},
        {"table": "a,c\n1,x\n", "weights": {"x": "lots"}},
        {"table": "a,c\n1,x\n2,y\n", "weights": {"x": 0, "y": 0}},
        {"table": 5},
    ],
)
def test_what_cannot_be_solved_is_told(server, body):
    answer = httpx.post(f"{server.address}/studio/solve", json=body, timeout=30)
    assert answer.status_code in (200, 422)
    assert "Traceback" not in answer.text
    if answer.status_code == 200:
        assert "event: problem" in answer.text or "event: done" in answer.text


# Saving.


def solved_file():
    policy = askless.solve(read_sheet(readme_file("bike.csv")).to_table({}, {})).policy
    return policy, askless.policy._file.dump(policy).decode()


def test_a_policy_is_saved_and_asked(serve, car, tmp_path):
    policy, content = solved_file()
    service = serve(tmp_path)
    saved = service.post("/studio/save", {"name": "bike", "policy": content})
    assert saved.status_code == 201
    assert saved.json()["ask"] == "/ask/bike"
    session = service.begin("bike")
    asked = service.get(f"/v1/sessions/{session}").json()["test"]["name"]
    assert asked == policy.start().test
    assert askless.load(tmp_path / "bike.json").start().test == asked
    service.api.library.look()
    assert service.api.library.problems == {}
    again = service.post("/studio/save", {"name": "bike", "policy": content})
    assert again.status_code == 422
    assert "Got 'bike' twice" in again.json()["error"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("../evil", None, "letters, digits, dots"),
        ("", None, "letters, digits, dots"),
        ("bike", "{}", "must follow its schema"),
        ("bike", "\ud800", "must be JSON"),
    ],
)
def test_what_must_not_be_saved(serve, car, tmp_path, name, content, words):
    service = serve(tmp_path)
    body = json.dumps({"name": name, "policy": content or solved_file()[1]})
    refused = service.post("/studio/save", content=body.encode())
    assert refused.status_code == 422
    assert words in refused.json()["error"]
    assert list(tmp_path.iterdir()) == []


def test_pages_of_other_sites_cannot_save(service):
    body = json.dumps({"name": "bike", "policy": solved_file()[1]})
    for headers in (
        {"origin": "https://evil.example", "content-type": "text/plain"},
        {"sec-fetch-site": "cross-site", "content-type": "text/plain"},
    ):
        refused = service.post("/studio/save", content=body, headers=headers)
        assert refused.status_code == 403
        assert "another site" in refused.json()["error"]
    assert service.api.library.names() == ["car"]


def test_so_many_policies_are_saved(service, monkeypatch):
    monkeypatch.setattr("askless.serve.pages._studio.MAX_SAVED", 2)
    content = solved_file()[1]
    found = [
        service.post("/studio/save", {"name": f"b{i}", "policy": content}).status_code
        for i in range(3)
    ]
    assert found == [201, 201, 422]


def test_searches_leave_no_thread(server):
    wait_until_free(server)
    end = time.monotonic() + 10
    while any(t.name.endswith("(run)") and t.daemon for t in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.05)
