"""Programs ask over HTTP: what next, sessions, rows, and what there is."""

import json
import re

import jsonschema
import numpy as np
import pytest

import askless
from askless.policy import Forest
from askless.serve import Limits
from askless.serve._steps import EXTRAS
from tests.policy.examples import EXAMPLES, make_example

pytest.importorskip("starlette", reason="needs the extra serve")


def outcome_of(test, rng):
    """Return something that a test of the service can show."""
    if test["kind"] == "category":
        return test["outcomes"][rng.integers(len(test["outcomes"]))]
    compared = test["compared"] or {"from": 0, "to": 1}
    return float(rng.uniform(compared["from"] - 1, compared["to"] + 1))


def finish(service, session, rng):
    """Answer at random to the end; return the answers and the last state."""
    state, answers = service.get(f"/v1/sessions/{session}").json(), []
    while not state["done"]:
        outcome = outcome_of(state["test"], rng)
        answers.append({"test": state["test"]["name"], "outcome": outcome})
        done = service.post(f"/v1/sessions/{session}/answer", {"outcome": outcome})
        assert done.status_code == 200, done.text
        state = done.json()
    return answers, state


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_kind_of_policy_is_asked_to_its_end(serve, name, rng):
    policy = make_example(name)
    service = serve(("it", policy))
    for _ in range(3):
        answers, state = finish(service, service.begin("it"), rng)
        session = policy.start()
        given = {answer["test"]: answer["outcome"] for answer in answers}
        while session.test is not None:
            session.answer(given[session.test])
        assert state["decision"] == session.decision
        assert state["spent"] == pytest.approx(session.spent)
        assert state["bought"] == list(session.bought)
        # The same answers without a session, in any order.
        rng.shuffle(answers)
        asked = service.post("/v1/policies/it/next", {"answers": answers})
        for key in ("done", "spent", "decision", "certainty", "stop_reason"):
            assert asked.json()[key] == state[key]


def test_what_is_asked_for_is_worked_out(service):
    include = ["why", "branches", "decision_now", "left_at_worst", "shares"]
    state = service.post("/v1/policies/car/next", {"include": include}).json()
    session = askless.solve(askless.datasets.load_car()).policy.start()
    assert state["why"] == session.why()
    assert state["decision_now"] == session.decision_now
    assert state["left_at_worst"] == session.left_at_worst
    assert [b["label"] for b in state["branches"]] == state["test"]["outcomes"]
    assert sum(s["share"] for s in state["shares"]) == pytest.approx(1, abs=0.1)
    plain = service.post("/v1/policies/car/next", {}).json()
    assert not set(include) & set(plain)


def test_answers_that_are_not_asked_for_are_named(service):
    answers = [
        {"test": "cranking", "outcome": "fast"},
        {"test": "pump hum", "outcome": "yes"},
    ]
    state = service.post("/v1/policies/car/next", {"answers": answers}).json()
    assert state["done"]
    assert state["unused"] == ["pump hum"]


def test_answers_may_be_skipped_or_unclear(service):
    for how, spent in (("skipped", 0.0), ("unsure", 1.0)):
        answers = [{"test": "cranking", how: True}]
        state = service.post("/v1/policies/car/next", {"answers": answers}).json()
        assert state["spent"] == spent


def test_equal_numbers_of_other_types_are_other_answers(serve):
    table = askless.Table({"flag": [True, False], "n": [0, 0]}, ["a", "b"])
    service = serve(("it", askless.solve(table).policy))
    said = [
        service.post(
            "/v1/policies/it/next", {"answers": [{"test": "flag", "outcome": value}]}
        )
        for value in (True, "true", 1)
    ]
    assert said[0].json()["decision"] == "a"
    assert said[1].status_code == said[2].status_code or said[2].json()["done"]


def test_a_repeated_request_is_one_answer(service):
    session = service.begin("car")
    path = f"/v1/sessions/{session}/answer"
    body, headers = {"outcome": "none"}, {"idempotency-key": "click 1"}
    first = service.post(path, body, headers=headers).json()
    again = service.post(path, body, headers=headers).json()
    assert first == again
    assert again["step"] == 1
    log = service.get(f"/v1/sessions/{session}/log").json()["events"]
    assert [event["outcome"] for event in log] == ["none"]


def test_a_key_is_for_one_request(service):
    session = service.begin("car")
    path, headers = f"/v1/sessions/{session}/answer", {"idempotency-key": "1"}
    service.post(path, {"outcome": "none"}, headers=headers)
    other = service.post(path, {"outcome": "slow"}, headers=headers)
    assert other.status_code == 422
    assert "one request only" in other.json()["error"]
    long = service.post(path, {"outcome": "on"}, headers={"idempotency-key": "x" * 201})
    assert long.status_code == 422
    assert "1 to 200 characters" in long.json()["error"]


def test_a_step_that_is_over_is_a_conflict(service):
    session = service.begin("car")
    path = f"/v1/sessions/{session}/answer"
    assert service.post(path, {"outcome": "none", "step": 0}).status_code == 200
    late = service.post(path, {"outcome": "none", "step": 0})
    assert late.status_code == 409
    assert late.json()["hint"].startswith("Ask where the session stands")
    assert service.get(f"/v1/sessions/{session}").json()["step"] == 1


def test_skip_unsure_and_undo(service):
    session = service.begin("car")
    path = f"/v1/sessions/{session}"
    assert service.post(f"{path}/skip", {}).json()["spent"] == 0
    assert service.post(f"{path}/undo", {}).json()["step"] == 2
    assert service.post(f"{path}/unsure", {}).json()["spent"] == 1
    assert service.post(f"{path}/undo").json()["spent"] == 0
    empty = service.post(f"{path}/undo")
    assert empty.status_code == 422
    assert "There must be an answer to take back" in empty.json()["error"]


def test_an_answer_may_name_its_test(service):
    session = service.begin("car")
    path = f"/v1/sessions/{session}/answer"
    other = service.post(path, {"outcome": "yes", "test": "pump hum"})
    assert other.status_code == 422
    assert "must be of the next test, 'cranking'" in other.json()["error"]
    assert service.post(path, {"outcome": "none", "test": "cranking"}).is_success


def test_rows_are_decided_as_the_policy_decides_them(serve, rng):
    X = rng.normal(size=(200, 6)).round(1)
    y = X[:, :3].sum(axis=1) > 0
    policy = askless.CostTreeClassifier(time_limit=1).fit(X, y).policy_
    service = serve(("it", policy))
    rows = [dict(zip(policy.test_names, row, strict=True)) for row in X.tolist()]
    found = service.post("/v1/policies/it/decide", {"rows": rows}).json()["rows"]
    decisions, costs = policy.predict_and_cost(X)
    assert [row["decision"] for row in found] == decisions.tolist()
    assert [row["cost"] for row in found] == costs.tolist()
    assert service.post("/v1/policies/it/decide", {"rows": []}).json()["rows"] == []


def test_values_that_were_never_seen_are_named(service, car):
    rows = [{"cranking": "fast"}, {"cranking": "banana", "headlights": 7}, {}]
    found = service.post("/v1/policies/car/decide", {"rows": rows}).json()["rows"]
    assert [row.get("unseen") for row in found] == [
        None,
        ["cranking", "headlights"],
        None,
    ]
    assert found[1]["decision"] in car.classes


def test_a_policy_that_asks_nothing_decides_rows(serve):
    table = askless.Table({"lamp": [0, 1]}, ["a", "a"])
    service = serve(("it", askless.solve(table).policy))
    found = service.post("/v1/policies/it/decide", {"rows": [{}, {}]}).json()["rows"]
    assert found == [{"decision": "a", "cost": 0.0}] * 2
    assert service.get(f"/v1/sessions/{service.begin('it')}").json()["done"]


def test_versions_are_asked_for_by_name(service, car):
    version = service.get("/v1/policies/car").json()["version"]
    for name in (f"car@{version}", f"car@{version.removeprefix('sha256:')[:12]}"):
        assert service.get(f"/v1/policies/{name}").json()["version"] == version
    gone = service.get("/v1/policies/car@sha256:0")
    assert gone.status_code == 404
    assert "version must be one that is still kept" in gone.json()["error"]
    typo = service.get("/v1/policies/cat")
    assert "Did you mean 'car'" in typo.json()["error"] + typo.json()["hint"]


def test_numbers_for_prometheus(service):
    session = service.begin("car")
    service.post(f"/v1/sessions/{session}/answer", {"outcome": "fast"})
    text = service.get("/metrics").text
    assert 'askless_steps_total{policy="car"} 1' in text
    assert 'askless_spent_total{policy="car"} 1' in text
    assert 'askless_saved_total{policy="car"} 172' in text
    assert 'askless_decisions_total{policy="car"} 1' in text
    assert "askless_request_seconds_bucket" in text


def test_the_service_says_how_it_is(service, serve, tmp_path):
    assert service.get("/healthz").json() == {"status": "alive"}
    assert service.get("/readyz").json() == {"status": "ready"}
    empty = serve(tmp_path)
    assert empty.get("/readyz").status_code == 503


def test_the_description_follows_its_standard(service):
    described = service.get("/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    routes = {route.path for route in service.api.routes()}
    assert routes <= set(described["paths"])
    named = json.dumps(described)
    for reference in re.findall(r'"#/components/schemas/(\w+)"', named):
        assert reference in described["components"]["schemas"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_responses_are_as_described(serve, name, rng):
    service = serve(("it", make_example(name)))
    described = service.get("/openapi.json").json()

    def check(view, content):
        schema = {"$ref": f"#/components/schemas/{view}"}
        whole = {**schema, "components": described["components"]}
        jsonschema.Draft202012Validator(whole).validate(content)
        # Every field of the view's own is described, too.
        known = described["components"]["schemas"][view]["properties"]
        assert set(content) <= set(known)

    check("PoliciesView", service.get("/v1/policies").json())
    check("PolicyView", service.get("/v1/policies/it").json())
    session = service.begin("it")
    query = "&".join(f"include={extra}" for extra in EXTRAS)
    check("StateView", service.get(f"/v1/sessions/{session}?{query}").json())
    answers, state = finish(service, session, rng)
    check("StateView", state)
    check("StateView", service.get(f"/v1/sessions/{session}?{query}").json())
    check("LogView", service.get(f"/v1/sessions/{session}/log").json())
    row = {answer["test"]: answer["outcome"] for answer in answers}
    check("DecidedView", service.post("/v1/policies/it/decide", {"rows": [row]}).json())


def test_no_more_sessions_than_may_be_kept(serve, car):
    service = serve(("car", car), limits=Limits(max_sessions=2))
    service.begin("car")
    service.begin("car")
    full = service.post("/v1/sessions", {"policy": "car"})
    assert full.status_code == 503
    assert "as many sessions as it may" in full.json()["error"]


def test_a_step_that_takes_too_long_is_given_up(serve, monkeypatch):
    import time

    policy = make_example("rule")
    service = serve(("slow", policy), limits=Limits(step_seconds=0.05))
    session = service.begin("slow")
    usual = type(policy).next_test

    def next_test(self, state):
        time.sleep(0.3)
        return usual(self, state)

    monkeypatch.setattr(type(policy), "next_test", next_test)
    late = service.post(f"/v1/sessions/{session}/skip", {})
    assert late.status_code == 503
    assert "at most 0.05 seconds" in late.json()["error"]


def test_a_forest_on_request_only_looks_ahead(serve, rng, monkeypatch):
    tree = make_example("numbers")
    service = serve(("forest", Forest.from_trees([tree, tree])))
    monkeypatch.setattr(
        "askless.run._session.look_ahead", lambda *_: pytest.fail("looked ahead")
    )
    session = service.begin("forest")
    assert service.get(f"/v1/sessions/{session}").is_success
    assert service.get(f"/case/{session}").is_success


def test_numbers_in_answers_are_plain(serve):
    table = askless.Table(
        {"n": np.array([1, 2, 3])}, np.array([1.5, 2.5, 2.5]), thresholds=True
    )
    service = serve(("it", askless.solve(table).policy))
    state = service.post(
        "/v1/policies/it/next", {"answers": [{"test": "n", "outcome": 3}]}
    ).json()
    assert state["decision"] == 2.5
