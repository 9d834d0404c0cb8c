"""People finish interviews in a browser: by mouse, by keys, without scripts."""

import functools
import http.server
import threading
import time

import pytest

import askless
from tests.export.chromium import find_chromium
from tests.serve.service import Thread
from tests.serve.visitor import Visitor

pytest.importorskip("starlette", reason="needs the extra serve")

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def clinic():
    """Return a policy that asks for a number twice, for one of many, and two things."""
    table = askless.Table(
        {
            "age (years)": [20.0, 30.0, 40.0, 50.0, 60.0, 70.0],
            "month": [f"month {i}" for i in range(1, 13)][:6],
            HOSTILE: ["yes", "no", "yes", "no", "yes", "no"],
        },
        ["a", "b", "b", "c", "c", "d"],
        costs={"age (years)": 2, "month": 30, HOSTILE: 1.5},
        thresholds=True,
    )
    return askless.solve(table).policy


@pytest.fixture(scope="module")
def server(car, clinic):
    find_chromium()
    with Thread([("car", car), ("clinic", clinic)]) as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    with Visitor() as page:
        yield page


@pytest.fixture
def page(browser, server):
    browser.resize(1280, 900)
    browser.allow_scripts(True)
    browser.prefer("light")
    browser.requests.clear()
    browser.errors.clear()
    browser.visit(server.address + "/?lang=en")
    yield browser
    assert browser.errors == []
    assert all(r.startswith((server.address, "data:")) for r in browser.requests)


def expected_end(policy, answers):
    session = policy.start()
    for outcome in answers:
        session.answer(outcome)
    assert session.decision is not None
    return session


def test_by_mouse(page, car):
    page.follow("form[action^='/ask/car'] button")
    answers = []
    while page.is_question:
        answers.append(page.choices[-1])
        page.follow(".choice:last-of-type")
    session = expected_end(car, answers)
    assert page.heading == str(session.decision)
    assert f"Spent: {session.spent:g}." in page.text
    for entry in session.log:
        assert entry["test"] in page.text


def test_by_keys_only(page, car):
    page.tab_to("form[action^='/ask/car'] button")
    page.press_to("Enter", text="\r")
    answers = []
    while page.is_question:
        answers.append(page.choices[0])
        if len(answers) % 2:
            page.tab_to(".choice")
            page.press_to("Enter", text="\r")
        else:
            # A number chooses too.
            page.press_to("1")
    session = expected_end(car, answers)
    assert page.heading == str(session.decision)
    page.tab_to("button[value=undo]")
    page.press_to("Enter", text="\r")
    assert page.is_question


def test_without_scripts(page, car, server):
    page.allow_scripts(False)
    page.visit(server.address + "/?lang=en")
    page.follow("form[action^='/ask/car'] button")
    answers = []
    while page.is_question:
        answers.append(page.choices[-1])
        page.follow(".choice:last-of-type")
    session = expected_end(car, answers)
    assert page.heading == str(session.decision)
    # Back, don't know, skip, why: all of it without scripts.
    page.follow("button[value=undo]")
    page.follow(".why a")
    assert "What if?" in page.text
    page.follow("button[value=unsure]")
    assert not page.is_question or page.heading
    page.allow_scripts(True)


@pytest.mark.parametrize("language", ["en", "de"])
def test_on_a_phone_in_both_languages(page, server, clinic, language):
    page.resize(360, 740, mobile=True, scale=2)
    page.visit(f"{server.address}/ask/clinic?lang={language}")
    page.follow("form.card button")
    said = {"en": "costs", "de": "kostet"}[language]
    n_pages = 0
    while page.is_question:
        n_pages += 1
        assert said in page.text
        assert not page.is_too_wide
        assert page.run("document.documentElement.lang") == language
        targets = page.run(
            "[...document.querySelectorAll('main button')].map("
            "(e) => e.getBoundingClientRect().height)"
        )
        assert min(targets) >= 44
        if page.choices:
            page.follow(".choice")
        else:
            page.click("input[name=outcome]")
            # Many people write a comma.
            page.type("41,5")
            page.follow(".main")
    assert n_pages >= 2
    assert not page.is_too_wide
    end = {"en": "Begin again", "de": "Von vorn beginnen"}[language]
    assert end in page.text
    assert {"en": "Print", "de": "Drucken"}[language] in page.text


def test_a_number_is_asked_with_its_unit_and_once(page, server, clinic):
    page.visit(f"{server.address}/ask/clinic?lang=en")
    page.follow("form.card button")
    headings = []
    while page.is_question:
        headings.append(page.heading)
        if page.choices:
            page.follow(".choice")
            continue
        assert "A number, in years" in page.text
        assert "Compared with" in page.text
        assert page.run("document.activeElement.name") == "outcome"
        page.type("lots")
        page.follow(".main")
        assert (
            page.run("document.querySelector('[role=alert]').innerText")
            == "A number is needed here, such as 25. Got: lots"
        )
        # What was typed can be mended.
        assert page.run("document.querySelector('[name=outcome]').value") == "lots"
        page.run("document.querySelector('input[name=outcome]').select()")
        page.type("33")
        page.press_to("Enter", text="\r")
    assert len(headings) == len(set(headings))
    assert "age (years)" in headings


def test_names_are_shown_as_they_are(page, server):
    page.visit(f"{server.address}/ask/clinic?lang=en")
    page.follow("form.card button")
    while page.is_question and HOSTILE not in page.heading:
        page.follow("button[value=skip]")
    assert HOSTILE in page.text
    assert page.run("document.images.length") == 0


def test_a_click_twice_is_one_answer(page, server):
    page.follow("form[action^='/ask/car'] button")
    session = page.run("location.pathname").split("/")[-1]
    # Both forms of one page are sent, as an impatient browser would.
    page.run(
        "Promise.all([1, 2].map(() => fetch(location.pathname, {method: 'POST',"
        "headers: {'content-type': 'application/x-www-form-urlencoded'},"
        "body: 'step=0&by=position&outcome=1'})))"
    )
    log = server.api.sessions.store.log(session)
    assert len(log) == 1
    # A page that is not the newest says so.
    with page.loading():
        page.run("document.querySelectorAll('.choice')[0].click()")
    assert "not the newest any more" in page.text
    assert len(server.api.sessions.store.log(session)) == 1


@pytest.fixture
def shop(tmp_path):
    """Serve a page of somebody else, and return its address and where to write it."""
    handler = functools.partial(QuietHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", tmp_path / "shop.html"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_an_embedded_interview_says_how_high_it_is(browser, car, shop):
    origin, path = shop
    with Thread([("car", car)], cors=[origin]) as server:
        path.write_text(
            "<script>heights = []; addEventListener('message', (e) => "
            "heights.push([e.origin, e.data.height]))</script>"
            f"<iframe src='{server.address}/ask/car' width=400></iframe>"
        )
        browser.visit(f"{origin}/shop.html")
        end = time.monotonic() + 10
        while not browser.run("heights.length"):
            assert time.monotonic() < end
            time.sleep(0.02)
        said, height = browser.run("heights.at(-1)")
        assert said == server.address
        assert height > 100


def test_axe_is_at_work(page):
    page.run("document.querySelector('main').append(document.createElement('button'))")
    assert any(found.startswith("button-name") for found in page.find_barriers())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_barrier(page, server, scheme, width):
    page.prefer(scheme)
    page.resize(width, 800)
    for start in ("/ask/car", "/ask/clinic"):
        for path in ("/", start, "/nothing-here-either", "/login"):
            if path == "/nothing-here-either":
                path = "/ask/nothing"
            page.visit(f"{server.address}{path}?lang=de")
            assert page.find_barriers() == [], path
        page.visit(f"{server.address}{start}?lang=en")
        page.follow("form.card button")
        while page.is_question:
            assert page.find_barriers() == [], page.heading
            page.follow(".why a")
            assert page.find_barriers() == [], page.heading
            if page.choices:
                page.follow(".choice")
            else:
                page.run("document.querySelector('input[name=outcome]').focus()")
                page.type("x")
                page.follow(".main")
                assert page.find_barriers() == [], "an answer that is refused"
                page.follow("button[value=skip]")
        assert page.find_barriers() == [], page.heading


def test_the_decision_can_be_printed(page, server):
    page.follow("form[action^='/ask/car'] button")
    while page.is_question:
        page.follow(".choice")
    assert page.run("document.querySelector('.links button').innerText") == "Print"
    assert page.pdf().startswith(b"%PDF")
