"""A FHIR client fills in adaptive forms, and every resource follows the standard."""

import json

import pytest

from tests.policy.examples import EXAMPLES, make_example
from tests.serve.service import Thread

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("fhir.resources", reason="needs fhir.resources")

from fhir.resources.R4B.bundle import Bundle
from fhir.resources.R4B.capabilitystatement import CapabilityStatement
from fhir.resources.R4B.operationoutcome import OperationOutcome
from fhir.resources.R4B.parameters import Parameters
from fhir.resources.R4B.questionnaire import Questionnaire
from fhir.resources.R4B.questionnaireresponse import (
    QuestionnaireResponse,
    QuestionnaireResponseItem,
    QuestionnaireResponseItemAnswer,
)

NEXT = "/fhir/Questionnaire/$next-question"


def first_response(service, name):
    """Return the empty response of a form, as a client that knows FHIR makes it."""
    form = Questionnaire.model_validate(
        service.get(f"/fhir/Questionnaire/{name}").json()
    )
    assert form.extension[0].url.endswith("sdc-questionnaire-questionnaireAdaptive")
    contained = Questionnaire(
        id="form", status="active", derivedFrom=[f"{form.url}|{form.version}"]
    )
    return QuestionnaireResponse(
        status="in-progress", questionnaire="#form", contained=[contained]
    )


def send(service, resource):
    sent = service.request(
        "POST",
        NEXT,
        content=resource.model_dump_json(),
        headers={"content-type": "application/fhir+json"},
    )
    assert sent.headers["content-type"] == "application/fhir+json"
    return sent


def answer_last(response):
    """Answer the newest question by its last option, or with a number."""
    items = response.contained[0].item
    asked = items[-1]
    if asked.type == "choice":
        answer = QuestionnaireResponseItemAnswer(
            valueCoding=asked.answerOption[-1].valueCoding
        )
    else:
        answer = QuestionnaireResponseItemAnswer(valueDecimal=39)
    item = QuestionnaireResponseItem(
        linkId=asked.linkId, text=asked.text, answer=[answer]
    )
    response.item = [*(response.item or []), item]
    return asked.text


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_client_finishes_a_form(serve, name):
    policy = make_example(name)
    service = serve(("it", policy))
    response, texts = first_response(service, "it"), []
    for _ in range(50):
        response = QuestionnaireResponse.model_validate(send(service, response).json())
        form = response.contained[0]
        assert response.questionnaire == f"#{form.id}"
        if response.status == "completed":
            break
        assert form.item[-1].extension[0].url == "urn:askless:price"
        texts.append(answer_last(response))
    assert response.status == "completed"
    session = policy.start()
    while session.test is not None:
        test = policy.test_by_name[session.test]
        session.answer(test.outcomes[-1] if test.outcomes else 39)
    decided = response.item[-1]
    assert decided.answer[0].valueString == str(session.decision)
    assert float(decided.extension[0].valueDecimal) == pytest.approx(session.spent)
    assert form.item[-1].readOnly
    assert texts == list(dict.fromkeys(e["test"] for e in session.log))


def test_parameters_come_back_as_parameters(service):
    given = Parameters(
        parameter=[
            {
                "name": "questionnaire-response",
                "resource": first_response(service, "car"),
            }
        ]
    )
    got = Parameters.model_validate(send(service, given).json())
    assert got.parameter[0].name == "return"
    assert got.parameter[0].resource.contained[0].item[0].text == "cranking"


def test_an_item_without_an_answer_is_skipped(service):
    response = QuestionnaireResponse.model_validate(
        send(service, first_response(service, "car")).json()
    )
    asked = response.contained[0].item[-1]
    response.item = [QuestionnaireResponseItem(linkId=asked.linkId)]
    after = QuestionnaireResponse.model_validate(send(service, response).json())
    assert len(after.contained[0].item) == 2
    assert after.item[0].answer is None


def test_a_form_stays_with_its_version(serve):
    service = serve(("it", make_example("numbers")))
    response = first_response(service, "it")
    service.api.library.add("it", make_example("groups"))
    after = QuestionnaireResponse.model_validate(send(service, response).json())
    assert after.contained[0].item[0].text in ("age", "fever")
    newest = first_response(service, "it")
    after = QuestionnaireResponse.model_validate(send(service, newest).json())
    assert after.contained[0].item[0].text not in ("age", "fever")


def test_forms_are_listed_and_described(service):
    bundle = Bundle.model_validate(service.get("/fhir/Questionnaire").json())
    assert [entry.resource.name for entry in bundle.entry] == ["car"]
    stated = CapabilityStatement.model_validate(service.get("/fhir/metadata").json())
    assert stated.rest[0].resource[0].operation[0].name == "next-question"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 422, "must be JSON"),
        (b"[]", 422, "must be a QuestionnaireResponse"),
        (b'{"resourceType": "Patient"}', 422, "must be a QuestionnaireResponse"),
        (b'{"resourceType": "Parameters"}', 422, "must be a QuestionnaireResponse"),
        (
            b'{"resourceType": "Parameters", "parameter": [7, {"name": "x"}]}',
            422,
            "must be a QuestionnaireResponse",
        ),
        (b'{"resourceType": "QuestionnaireResponse"}', 404, "must name its policy"),
        (
            b'{"resourceType": "QuestionnaireResponse", "questionnaire": "a/cat"}',
            404,
            "Did you mean 'car'",
        ),
        (
            b'{"resourceType": "QuestionnaireResponse", "questionnaire": "a/car|1",'
            b'"contained": 3, "item": 4}',
            404,
            "version must be one",
        ),
    ],
)
def test_what_is_wrong_is_told(service, body, status, words):
    got = service.request("POST", NEXT, content=body)
    assert got.status_code == status
    outcome = OperationOutcome.model_validate(got.json())
    assert words in outcome.issue[0].diagnostics


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"linkId": "test-999"}, "must be one that was asked"),
        ({"linkId": 5}, "must be one that was asked"),
        ({"linkId": "test-0", "answer": [{"valueDate": "2026"}]}, "one of its options"),
        (
            {"linkId": "test-0", "answer": [{"valueCoding": {"code": "99"}}]},
            "one of its options",
        ),
        (
            {"linkId": "test-0", "answer": [{"valueCoding": {"code": "²"}}]},
            "one of its options",
        ),
        ({"linkId": "test-0", "answer": [{"valueString": "?"}]}, "shows one of"),
    ],
)
def test_answers_that_make_no_sense_are_told(service, car, item, words):
    asked = car.test_names.index("cranking")
    item = json.loads(json.dumps(item).replace("test-0", f"test-{asked}"))
    body = {
        "resourceType": "QuestionnaireResponse",
        "questionnaire": "any/car",
        "item": [item],
    }
    got = service.post(NEXT, body)
    assert got.status_code == 422
    assert words in got.json()["issue"][0]["diagnostics"]


def test_too_many_items_are_refused(service):
    body = {
        "resourceType": "QuestionnaireResponse",
        "questionnaire": "any/car",
        "item": [{"linkId": "test-0"}] * 2_001,
    }
    assert "at most 2000 items" in service.post(NEXT, body).text


def test_the_client_of_another_library_finishes_a_form(car):
    fhirpy = pytest.importorskip("fhirpy", reason="needs fhirpy")
    with Thread([("car", car)]) as server:
        client = fhirpy.SyncFHIRClient(f"{server.address}/fhir")
        [form] = client.resources("Questionnaire").fetch()
        response = client.resource(
            "QuestionnaireResponse",
            status="in-progress",
            questionnaire=f"{form['url']}|{form['version']}",
        ).serialize()
        for _ in range(50):
            got = client.execute("Questionnaire/$next-question", "POST", response)
            response = got.serialize() if hasattr(got, "serialize") else dict(got)
            if response["status"] == "completed":
                break
            asked = response["contained"][0]["item"][-1]
            answer = {"valueCoding": asked["answerOption"][0]["valueCoding"]}
            items = response.setdefault("item", [])
            items.append({"linkId": asked["linkId"], "answer": [answer]})
    session = car.start()
    while session.test is not None:
        session.answer(car.test_by_name[session.test].outcomes[0])
    assert response["item"][-1]["answer"] == [{"valueString": session.decision}]
