"""What pages say, without a browser."""

import re

import pytest

import askless
from askless.serve.pages._texts import text

pytest.importorskip("starlette", reason="needs the extra serve")
PAGE = {"accept": "text/html,*/*", "accept-language": "de"}


def open_case(service, name="car", headers=PAGE):
    shown = service.post(f"/ask/{name}", headers=headers)
    assert shown.status_code == 303
    return shown.headers["location"]


def test_people_get_a_page_where_there_is_nothing(service):
    page = service.get("/nothing", headers=PAGE)
    assert page.status_code == 404
    assert "Diese Seite gibt es nicht." in page.text
    assert 'href="/"' in page.text
    told = service.get("/nothing")
    assert told.json()["error"] == "There is nothing at this address."


def test_people_get_a_page_when_something_fails(service, monkeypatch):
    def fail():
        raise RuntimeError("secret")

    monkeypatch.setattr(service.api.library, "refresh", fail)
    page = service.get("/", headers=PAGE)
    assert page.status_code == 500
    assert "Der Dienst konnte nicht antworten." in page.text
    assert "secret" not in page.text


def test_an_empty_folder_is_told(serve, tmp_path):
    page = serve(tmp_path).get("/", headers=PAGE)
    assert page.status_code == 200
    assert "Hier liegt noch nichts bereit." in page.text


def test_a_link_to_a_policy_shows_its_name(service):
    page = service.get("/ask/car?lang=en", headers=PAGE)
    assert "<h1>car</h1>" in page.text
    assert "All tests together cost 173" in page.text


def test_shares_of_the_likely_add_up(service, car):
    page = service.get(open_case(service) + "?lang=en").text
    rows = re.findall(r"<li><span[^>]*>([^<]*)</span>.*?([\d.]+) %</span></li>", page)
    assert rows[-1][0] == f"{len(car.classes) - 5} others"
    assert sum(float(share) for _, share in rows) == pytest.approx(100, abs=0.4)


def answer(service, case, outcome):
    """Press the button of an outcome, by its position."""
    step = re.search(r'name="step" value="(\d+)"', service.get(case).text)[1]
    form = {"step": step, "by": "position", "outcome": str(outcome)}
    return service.post(case, data=form, headers=PAGE)


@pytest.fixture
def swabs(serve):
    table = askless.Table.from_likelihoods(
        {"swab": {"ill": 0.996, "well": 0.004}},
        repeatable={"swab": 3},
        costs=askless.Costs({"swab": 1}, mistakes=10_000),
    )
    policy = askless.solve(table, objective="total").policy
    return serve(("swabs", policy)), policy


def test_a_decision_shows_the_posterior_and_why_it_stops(swabs):
    service, policy = swabs
    case = open_case(service, "swabs")
    assert "50 %" in service.get(case + "?lang=en").text
    session = policy.start()
    while session.test is not None:
        session.answer("yes")
        answer(service, case, policy.tests[0].outcomes.index("yes"))
    page = service.get(case + "?lang=en").text
    assert "No test left is worth its price." in page
    cost = f"{session.mistake_now:.4f}".rstrip("0")
    assert re.search(r"To decide so costs ([\d.]+) in mistakes", page)[1] == cost
    assert "How likely each decision is" in page
    assert "> 99.9 %" in page.replace("&gt;", ">")
    assert "unlikely" not in page
    german = service.get(case + "?lang=de").text
    assert "seinen Preis wert" in german


def test_contradictory_answers_are_unlikely_under_every_case_and_never_certain(swabs):
    service, policy = swabs
    case = open_case(service, "swabs")
    position = policy.tests[0].outcomes.index
    session = policy.start()
    for outcome in ("yes", "no"):
        session.answer(outcome)
        answer(service, case, position(outcome))
    # Said as soon as it shows, before there is a decision.
    page = service.get(case + "?lang=en").text
    assert "Question 3" in page
    assert "These answers are unlikely whatever is true." in page
    session.answer("no")
    answer(service, case, position("no"))
    page = service.get(case + "?lang=en").text
    assert "These answers are unlikely whatever is true. A case of well" in page
    # 0.004 * 0.996 * 0.996, where two that agree are usual.
    assert "gives them in 0.4 %, where 99.2 % is usual" in page
    assert f"one in {session.oddity.one_in} cases is as odd" in page
    assert "No other decision fits" not in page
    assert "No test is left." in page
    german = service.get(case + "?lang=de").text
    assert "Diese Antworten sind unwahrscheinlich, was immer zutrifft." in german


def test_what_was_typed_wrongly_is_told_in_the_language_of_the_page(serve):
    table = askless.Table(
        {"age (years)": [20.0, 30.0]}, ["a", "b"], costs=[2], thresholds=True
    )
    service = serve(("clinic", askless.solve(table).policy))
    case = open_case(service, "clinic")
    for typed, told in {
        "abc": "Hier braucht es eine Zahl",
        "": "Bitte antworten",
    }.items():
        page = service.post(case, headers=PAGE, data={"outcome": typed, "step": "0"})
        assert page.status_code == 422
        assert told in page.text
    # Whatever is typed stays text.
    typed = '"><b>'
    page = service.post(case, headers=PAGE, data={"outcome": typed, "step": "0"})
    assert typed not in page.text


def test_a_name_that_is_read_leftwards_does_not_turn_the_sentence():
    told = text("en", "then", test="\u0633\u0639")
    assert told == "\u2068\u0633\u0639\u2069 is asked next"
    assert text("en", "then", test="lamp") == "lamp is asked next"
