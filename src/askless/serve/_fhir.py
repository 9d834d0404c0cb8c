"""Adaptive forms of FHIR R4 (SDC): a Questionnaire that grows by one item a time.

A client sends a QuestionnaireResponse with all answers so far and a contained
Questionnaire; it gets both back with the next question, or completed with the decision.
The form names its policy and version, so nothing is kept. This module turns resources
into answers and states into resources, and must not know how policies work.
"""

from __future__ import annotations

import math
from typing import Any

from askless.exceptions import InvalidAnswerError, UnknownNameError
from askless.problem import Test
from askless.serve._asker import Asker
from askless.serve.kept._library import Offer

__all__ = ["Forms", "to_outcome"]

SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition"
ADAPTIVE = f"{SDC}/sdc-questionnaire-questionnaireAdaptive"
PRICE = "urn:askless:price"
SPENT = "urn:askless:spent"
CERTAINTY = "urn:askless:certainty"
DECISION = "decision"
MAX_ITEMS = 2_000
Resource = dict[str, Any]


class Forms:
    """The policies as adaptive forms.

    Parameters
    ----------
    asker : Asker
        What answers.
    """

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def next_question(self, body: Any, base: str) -> Resource:
        """Return the response of a form with the next question, or the decision.

        Parameters
        ----------
        body : object
            A QuestionnaireResponse, or Parameters with one as
            ``questionnaire-response``. What comes back is of the same kind.
        base : str
            The address under which forms are found.
        """
        response = _response_in(body)
        contained = _contained_in(response)
        offer = self._find(response, contained)
        answers = _answers_in(response, offer)
        interview = self.asker.follow(offer, answers)
        asked = list(dict.fromkeys(entry["test"] for entry in interview.session.log))
        state = self.asker.next(offer, answers)
        items = [self._item(offer, name) for name in asked]
        if not state["done"]:
            price = state["test"]["price"]
            items.append(self._item(offer, state["test"]["name"], price))
        form = self.form(offer, base)
        form |= {"id": contained.get("id") or "form", "item": items}
        form["derivedFrom"] = [f"{form.pop('url')}|{form.pop('version')}"]
        done = {
            **response,
            "resourceType": "QuestionnaireResponse",
            "contained": [form],
            "questionnaire": f"#{form['id']}",
            "status": "in-progress",
            "item": [_answered(item, response) for item in items[: len(asked)]],
        }
        if state["done"]:
            form["item"].append(_decision_item())
            done["item"].append(_decided(state))
            done["status"] = "completed"
        for resource in (form, done):
            if not resource["item"]:
                # An empty list is not allowed.
                del resource["item"]
        if body.get("resourceType") == "Parameters":
            returned = {"name": "return", "resource": done}
            return {"resourceType": "Parameters", "parameter": [returned]}
        return done

    def form(self, offer: Offer, base: str) -> Resource:
        """Return the form of a policy, before anything is asked."""
        return {
            "resourceType": "Questionnaire",
            "id": offer.name.replace("_", "-")[:64],
            "extension": [
                {"url": ADAPTIVE, "valueUrl": f"{base}/Questionnaire/$next-question"}
            ],
            "url": f"{base}/Questionnaire/{offer.name}",
            "version": offer.digest.removeprefix("sha256:"),
            "name": offer.name,
            "title": offer.name,
            "status": "active",
        }

    def bundle(self, base: str) -> Resource:
        """Return every form."""
        self.asker.library.refresh()
        forms = [self.form(offer, base) for offer in self.asker.library.offers()]
        bundle: Resource = {
            "resourceType": "Bundle",
            "type": "searchset",
            "total": len(forms),
        }
        if forms:
            bundle["entry"] = [{"fullUrl": f["url"], "resource": f} for f in forms]
        return bundle

    def _find(self, response: Resource, contained: Resource) -> Offer:
        """Return the policy that a form is derived from."""
        derived = contained.get("derivedFrom")
        named = [*derived] if isinstance(derived, list) else []
        named += [contained.get("url"), response.get("questionnaire")]
        for canonical in named:
            if isinstance(canonical, str) and not canonical.startswith("#"):
                address, _, digest = canonical.partition("|")
                name = address.rpartition("/")[2]
                return self.asker.library.find(name, digest or None)
        raise UnknownNameError(
            "A form must name its policy: derivedFrom of the contained Questionnaire, "
            "or questionnaire. Got neither. See the list of Questionnaires."
        )

    def _item(self, offer: Offer, name: str, price: float | None = None) -> Resource:
        test = offer.policy.test_by_name[name]
        item: Resource = {
            "linkId": _link_of(offer, name),
            "text": name,
            "type": "decimal" if test.kind == "number" else "choice",
        }
        if test.kind == "category":
            item["answerOption"] = [
                {"valueCoding": {"code": str(i), "display": str(outcome)}}
                for i, outcome in enumerate(test.outcomes)
            ]
        if price is not None and math.isfinite(price):
            item["extension"] = [{"url": PRICE, "valueDecimal": price}]
        return item


def _link_of(offer: Offer, name: str) -> str:
    return f"test-{offer.policy.test_names.index(name)}"


# What a client sends.


def _response_in(body: Any) -> Resource:
    found = body
    if isinstance(body, dict) and body.get("resourceType") == "Parameters":
        given = body.get("parameter")
        named = [
            part.get("resource")
            for part in (given if isinstance(given, list) else [])
            if isinstance(part, dict) and part.get("name") == "questionnaire-response"
        ]
        found = named[0] if named else None
    if not isinstance(found, dict) or found.get("resourceType") != (
        "QuestionnaireResponse"
    ):
        raise InvalidAnswerError(
            "What is sent must be a QuestionnaireResponse, or Parameters with one as "
            "questionnaire-response. Got something else. Send one of these."
        )
    return found


def _contained_in(response: Resource) -> Resource:
    contained = response.get("contained")
    for resource in contained if isinstance(contained, list) else []:
        if isinstance(resource, dict) and resource.get("resourceType") == (
            "Questionnaire"
        ):
            return resource
    return {}


def _items_in(response: Resource) -> dict[str, Resource]:
    items = response.get("item")
    listed = items if isinstance(items, list) else []
    if len(listed) > MAX_ITEMS:
        raise InvalidAnswerError(
            f"A form must have at most {MAX_ITEMS} items. Got {len(listed)}. Send "
            "those that were asked."
        )
    return {
        str(item.get("linkId")): item
        for item in listed
        if isinstance(item, dict) and item.get("linkId") != DECISION
    }


def _answers_in(response: Resource, offer: Offer) -> list[dict[str, Any]]:
    links = {_link_of(offer, name): name for name in offer.policy.test_names}
    answers = []
    for link, item in _items_in(response).items():
        if link not in links:
            raise InvalidAnswerError(
                "Each item must be one that was asked. Got the linkId "
                f"{link[:100]!r}. Keep the items as they came."
            )
        name = links[link]
        given = item.get("answer")
        if not isinstance(given, list) or not given or not isinstance(given[0], dict):
            # Asked, and left without an answer.
            answers.append({"test": name, "skipped": True})
            continue
        outcome = _outcome_in(given[0], offer.policy.test_by_name[name])
        answers.append({"test": name, "outcome": outcome})
    return answers


def _outcome_in(answer: Resource, test: Test) -> object:
    coding = answer.get("valueCoding")
    if isinstance(coding, dict):
        code = str(coding.get("code"))
        if code.isascii() and code.isdigit() and int(code[:9]) < len(test.outcomes):
            return test.outcomes[int(code[:9])]
    for kind in ("Decimal", "Integer", "Boolean", "String"):
        value = answer.get(f"value{kind}")
        if isinstance(value, (str, bool, int, float)):
            return value
    quantity = answer.get("valueQuantity")
    if isinstance(quantity, dict) and isinstance(quantity.get("value"), (int, float)):
        return quantity["value"]
    raise InvalidAnswerError(
        f"The answer to {test.name!r} must be one of its options, or a number. Got "
        "something else. Choose an option, or leave the answer out to skip it."
    )


# What a client gets.


def _answered(item: Resource, response: Resource) -> Resource:
    given = _items_in(response).get(item["linkId"], {})
    answered = {"linkId": item["linkId"], "text": item["text"]}
    return answered | ({"answer": given["answer"]} if given.get("answer") else {})


def _decision_item() -> Resource:
    return {"linkId": DECISION, "text": "Decision", "type": "string", "readOnly": True}


def _decided(state: dict[str, Any]) -> Resource:
    notes = [{"url": SPENT, "valueDecimal": state["spent"]}]
    if state["certainty"] is not None:
        notes.append({"url": CERTAINTY, "valueDecimal": state["certainty"]})
    return {
        "linkId": DECISION,
        "text": "Decision",
        "extension": notes,
        "answer": [{"valueString": str(state["decision"])}],
    }


def to_outcome(error: str, hint: str, status: int) -> Resource:
    """Return what went wrong as an OperationOutcome."""
    code = {404: "not-found", 422: "invalid"}.get(status, "processing")
    said = {"severity": "error", "code": code, "diagnostics": f"{error} {hint}".strip()}
    return {"resourceType": "OperationOutcome", "issue": [said]}
