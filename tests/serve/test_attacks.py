"""Whoever means harm gets a clear status, nothing leaks, and the service lives."""

import asyncio
import json
import logging

import pytest

import askless
from askless.exceptions import DataFileError
from askless.serve import Limits, make_key
from askless.serve.kept._keys import Keys

pytest.importorskip("starlette", reason="needs the extra serve")

HOSTILE = '<script>alert("x")</script>\' onload=evil \u202e \x00 {{7*7}} </title>'


@pytest.fixture
def keys(tmp_path):
    """Return a file of two keys, and the keys."""
    made = [make_key() for _ in range(2)]
    path = tmp_path / "keys.txt"
    path.write_text("# who\n" + "\n".join(line for _, line in made) + "\n")
    return path, [key for key, _ in made]


def bearer(key):
    return {"authorization": f"Bearer {key}"}


def said(response):
    content = response.json()
    assert set(content) == {"error", "hint"}
    assert "Traceback" not in response.text
    assert ".py" not in response.text
    return content["error"]


# Keys.


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("guess"),
        bearer(""),
        {"authorization": "Basic abc"},
        {"authorization": "Bearer"},
        {"cookie": "askless_key=guess"},
        {"cookie": 'askless_key="\\400'},
        {"cookie": "a b c;;;==;\x07"},
    ],
)
def test_nobody_gets_in_without_a_key(serve, car, keys, headers):
    service = serve(("car", car), keys=keys[0])
    for path in ("/v1/policies", "/metrics", "/openapi.json", "/nothing", "/"):
        refused = service.get(path, headers=headers)
        assert refused.status_code == 401
        assert "must bring a key" in said(refused)
        assert refused.headers["www-authenticate"] == "Bearer"
    assert service.post("/v1/sessions", {"policy": "car"}).status_code == 401
    assert service.get("/healthz").status_code == 200


def test_a_person_is_led_to_the_door(serve, car, keys):
    service = serve(("car", car), keys=keys[0])
    page = {"accept": "text/html,*/*"}
    led = service.get("/", headers=page)
    assert (led.status_code, led.headers["location"]) == (303, "/login")
    wrong = service.post("/login", data={"key": "guess"}, headers=page)
    assert wrong.status_code == 401
    assert "not known" in wrong.text
    right = service.post("/login", data={"key": keys[1][0]}, headers=page)
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    inside = service.get("/", headers={**page, "cookie": cookie.split(";")[0]})
    assert inside.status_code == 200
    assert "car" in inside.text


def test_a_session_belongs_to_its_key(serve, car, keys):
    service = serve(("car", car), keys=keys[0])
    mine, yours = map(bearer, keys[1])
    session = service.begin("car", headers=mine)
    for path in ("", "/log"):
        assert service.get(f"/v1/sessions/{session}{path}", headers=mine).is_success
        other = service.get(f"/v1/sessions/{session}{path}", headers=yours)
        assert other.status_code == 404
        assert "identifier that is not known" in said(other)
    for act in ("answer", "skip", "unsure", "undo"):
        body = {"outcome": "none"} if act == "answer" else {}
        other = service.post(f"/v1/sessions/{session}/{act}", body, headers=yours)
        assert other.status_code == 404
    assert service.get(f"/case/{session}", headers=yours).status_code == 404
    assert service.get(f"/v1/sessions/{session}", headers=mine).json()["step"] == 0


def test_keys_are_kept_as_hashes(keys):
    text = keys[0].read_text()
    assert not any(key in text for key in keys[1])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "must hold one key at least"),
        (["# only a note"], "must hold one key at least"),
        (["secret"], "64 hex digits. Got another in line 1"),
        (["sha256:" + "0" * 63], "64 hex digits"),
        (["sha256:" + "g" * 64], "64 hex digits"),
    ],
)
def test_a_file_of_keys_is_checked(lines, message):
    with pytest.raises(DataFileError, match=message):
        Keys(lines)


def test_a_file_of_keys_must_be_there(tmp_path):
    with pytest.raises(DataFileError, match="must be there and readable"):
        Keys.read(tmp_path / "none")


# Bodies.


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'"x"',
        b"[" * 100_000,
        b'{"outcome": {"a": 1}}',
        b'{"outcome": "none", "more": 1}',
        b'{"outcome": NaN}',
        b'{"outcome": 1e999}',
        b'{"outcome": "none", "step": -1}',
        b'{"outcome": "none", "step": "x"}',
        b'{"outcome": "none", "include": ["everything"]}',
        b'{"outcome": "none", "include": 7}',
        b'{"outcome": "\\ud800"}',
        b'{"outcome": "' + b"x" * 10_000 + b'"}',
        b'{"outcome": 123456789012345678901234567890}',
        b'{"outcome": [1]}',
        b"{}",
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_body_that_makes_no_sense_is_refused(service, body):
    session = service.begin("car")
    refused = service.post(f"/v1/sessions/{session}/answer", content=body)
    assert refused.status_code == 422, refused.text
    assert said(refused)
    assert len(refused.text) < 2_000
    assert service.get(f"/v1/sessions/{session}").json()["step"] == 0


@pytest.mark.parametrize("outcome", ["\x00", HOSTILE, "NONE", True, 0, -1e308, None])
def test_odd_answers_do_no_harm(service, outcome):
    session = service.begin("car")
    answered = service.post(f"/v1/sessions/{session}/answer", {"outcome": outcome})
    assert answered.status_code in (200, 422)


def test_a_body_that_is_too_large_is_refused(serve, car):
    service = serve(("car", car), limits=Limits(max_body=1_000))
    large = service.post("/v1/policies/car/next", content=b" " * 1_001)
    assert large.status_code == 413
    assert "at most 1000 bytes" in said(large)

    async def drip():
        for _ in range(20):
            yield b" " * 100

    # Without saying so before.
    dripped = service.post("/v1/policies/car/next", content=drip())
    assert dripped.status_code == 413
    form = service.post("/case/x", data={"outcome": "x" * 2_000})
    assert form.status_code == 413


def test_a_body_that_does_not_come_is_not_waited_for(serve, car):
    service = serve(("car", car), limits=Limits(body_seconds=0.1))

    async def slow():
        yield b"{"
        await asyncio.sleep(5)
        yield b"}"

    late = service.post("/v1/policies/car/next", content=slow())
    assert late.status_code == 408
    assert "must come in 0.1 seconds" in said(late)


def test_too_many_answers_and_rows_are_refused(service):
    answers = [{"test": "cranking", "outcome": "none"}] * 2_001
    many = service.post("/v1/policies/car/next", {"answers": answers})
    assert many.status_code == 422
    rows = service.post("/v1/policies/car/decide", {"rows": [{}] * 100_001})
    assert rows.status_code == 422
    unknown = service.post(
        "/v1/policies/car/next", {"answers": [{"test": HOSTILE, "outcome": 1}]}
    )
    assert "must name a test of the policy" in said(unknown)
    neither = service.post("/v1/policies/car/next", {"answers": [{"test": "cranking"}]})
    assert "must have an outcome, or be skipped" in said(neither)


@pytest.mark.parametrize(
    "length", ["-5", "x", "1e9", "99999999999999999999", "\u0661", ""]
)
def test_odd_lengths_are_no_failure(service, length):
    async def ask():
        sent = []

        async def receive():
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/v1/policies/car/next",
            "raw_path": b"", "query_string": b"", "scheme": "http",
            "headers": [(b"content-length", length.encode())],
            "server": ("test", 80), "client": ("test", 1), "http_version": "1.1",
            "root_path": "",
        }  # fmt: skip
        await service.app(scope, receive, send)
        return sent[0]["status"]

    assert asyncio.run(ask()) in (200, 413)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/policies/..%2f..%2fetc%2fpasswd",
        "/v1/policies/car@",
        "/v1/policies/@",
        "/v1/policies/%00",
        "/v1/sessions/" + "x" * 5_000,
        "/v1/sessions/%F0%9F%92%A9",
        "/static/../_keys.py",
        "/static/%2e%2e/_keys.py",
        "/static/..%2f_keys.py",
        "/case/' OR 1=1 --",
        "/ask/<script>",
        "/v1/sessions/a/log?include=x",
    ],
)
def test_odd_addresses_lead_nowhere(service, path):
    gone = service.get(path)
    assert gone.status_code in (200, 404)
    assert "PREFIX" not in gone.text
    assert "root:" not in gone.text
    assert "<script>alert" not in gone.text
    if gone.status_code == 200:
        assert path == "/v1/policies/car@"


# Names.


@pytest.fixture
def hostile():
    table = askless.Table(
        {HOSTILE: [HOSTILE, "b", "c"], "=cmd()": ["x", "y", "y"]},
        [HOSTILE, "<b>two</b>", "&amp;"],
        costs={HOSTILE: 1, "=cmd()": 2},
    )
    return askless.solve(table).policy


def test_names_of_a_policy_are_shown_and_never_run(serve, hostile):
    service = serve(("it", hostile))
    session = service.begin("it")
    for query in ("", "?why=1", "?lang=de"):
        page = service.get(f"/case/{session}{query}").text
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page
    service.post(f"/v1/sessions/{session}/answer", {"outcome": HOSTILE})
    page = service.get(f"/case/{session}").text
    assert "<script>alert" not in page
    log = service.get(f"/v1/sessions/{session}/log")
    assert log.headers["content-type"] == "application/json"
    assert log.json()["events"][0]["outcome"] == HOSTILE


def test_languages_and_queries_are_not_written_back(service):
    odd = service.get('/?lang="><script>alert(1)</script>&why="><b>')
    assert "<script>alert" not in odd.text
    for path in ("/", f"/case/{service.begin('car')}"):
        page = service.get(path, headers={"accept-language": '"><script>, de;q=x'})
        assert "<script>alert" not in page.text


# Headers and failures.


def test_pages_may_load_nothing_from_elsewhere(service):
    for path in ("/", "/nothing", "/v1/policies", f"/case/{service.begin('car')}"):
        headers = service.get(path).headers
        rules = headers["content-security-policy"].split("; ")
        assert "default-src 'none'" in rules
        assert "script-src 'self'" in rules
        assert "frame-ancestors 'self'" in rules
        assert not any("unsafe" in rule or "http" in rule for rule in rules)
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
    page = service.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count("<script src=")


def test_other_sites_are_let_in_only_if_named(serve, car):
    closed = serve(("car", car))
    origin = {"origin": "https://shop.example"}
    assert (
        "access-control-allow-origin"
        not in closed.get("/v1/policies", headers=origin).headers
    )
    service = serve(("car", car), cors=["https://shop.example"])
    let_in = service.get("/v1/policies", headers=origin).headers
    assert let_in["access-control-allow-origin"] == "https://shop.example"
    assert let_in["content-security-policy"].endswith("'self' https://shop.example")
    other = service.get("/v1/policies", headers={"origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_a_browser_may_ask_first_without_a_key(serve, car, keys):
    service = serve(("car", car), keys=keys[0], cors=["https://shop.example"])
    asked = service.request(
        "OPTIONS",
        "/v1/sessions",
        headers={
            "origin": "https://shop.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization",
        },
    )
    assert asked.status_code == 200
    assert service.request("OPTIONS", "/v1/sessions").status_code == 401


def test_forms_of_other_sites_are_refused(service):
    session = service.begin("car")
    form = {"step": "0", "act": "skip"}
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        for path in (f"/case/{session}", "/ask/car"):
            refused = service.post(path, data=form, headers=headers)
            assert refused.status_code == 403
    own = {"origin": "http://test"}
    assert service.post(f"/case/{session}", data=form, headers=own).status_code == 303


def test_no_trace_leaves_and_none_is_lost(service, monkeypatch, caplog):
    def fail(*_, **__):
        raise RuntimeError("secret detail of /home/someone")

    session = service.begin("car")
    monkeypatch.setattr("askless.serve._api.explain", fail)
    monkeypatch.setattr("askless.serve.pages._draw.describe_test", fail)
    for path in (f"/v1/sessions/{session}", f"/case/{session}"):
        with caplog.at_level(logging.ERROR, "askless.serve"):
            failed = service.get(path)
        assert failed.status_code == 500
        assert "secret" not in failed.text
        assert "could not answer" in said(failed)
        assert "content-security-policy" in failed.headers
        assert "secret detail" in caplog.text
        # Addresses name sessions, and answers are nobody's business.
        assert session not in caplog.messages[-1]


def test_wrong_ways_to_ask_are_named(service):
    assert said(service.get("/nothing")).startswith("There is nothing")
    wrong = service.get("/v1/sessions")
    assert wrong.status_code == 405
    assert wrong.headers["allow"] == "POST"
    assert service.request("DELETE", "/v1/policies").status_code == 405
    odd = service.post(
        "/case/x", content=b"\x00", headers={"content-type": "multipart/form-data"}
    )
    assert odd.status_code == 400
    assert said(odd)


def test_forms_with_odd_fields_do_no_harm(service):
    session = service.begin("car")
    for form in (
        {},
        {"step": "x", "act": "explode"},
        {"step": "0", "outcome": "99", "by": "position"},
        {"step": "0", "outcome": HOSTILE},
        {"step": "999999999999999999999", "act": "skip"},
        {"outcome": "\ud800".encode("utf-8", "surrogatepass")},
    ):
        answered = service.post(f"/case/{session}", data=form)
        assert answered.status_code in (303, 422)
        assert "<script>alert" not in answered.text
    many = {f"field{i}": "x" for i in range(50)}
    assert service.post(f"/case/{session}", data=many).status_code in (400, 422)


def test_what_is_logged_can_be_written(service):
    session = service.begin("car")
    state = json.dumps({"outcome": "none"}).encode()
    service.post(f"/v1/sessions/{session}/answer", content=state)
    events = service.get(f"/v1/sessions/{session}/log").json()["events"]
    assert set(events[0]) == {"at", "test", "outcome", "paid"}
