"""A client of `askless serve`, with nothing but the standard library.

    python client.py http://127.0.0.1:8000 lamp

asks in the terminal; a key, if the service wants one, is read from ASKLESS_KEY.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid


class ServiceError(Exception):
    """What the service has against a request: its status, and what to do."""

    def __init__(self, status, error, hint):
        super().__init__(f"{error} {hint}")
        self.status = status


class Service:
    """A service, by its address."""

    def __init__(self, address, key=None):
        self.address = address.rstrip("/")
        self.headers = {"content-type": "application/json"}
        if key:
            self.headers["authorization"] = f"Bearer {key}"

    def send(self, path, body=None, **headers):
        """Return what the service answers; GET without a body, else POST."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {**self.headers, **headers}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = json.load(error)
            raise ServiceError(error.code, said["error"], said["hint"]) from None

    def policies(self):
        """Return what is served."""
        return self.send("/v1/policies")["policies"]

    def next(self, policy, answers, include=()):
        """Return what to ask after all answers so far; nothing is kept."""
        path = f"/v1/policies/{urllib.parse.quote(policy)}/next"
        return self.send(path, {"answers": answers, "include": list(include)})

    def decide(self, policy, rows):
        """Return the decision and the cost of each row."""
        path = f"/v1/policies/{urllib.parse.quote(policy)}/decide"
        return self.send(path, {"rows": rows})["rows"]

    def begin(self, policy):
        """Begin a session that the service keeps."""
        return Session(self, self.send("/v1/sessions", {"policy": policy}))


class Session:
    """A session; `state` says what is next, or what was decided."""

    def __init__(self, service, state):
        self.service, self.state = service, state

    @property
    def is_done(self):
        return self.state["done"]

    def _step(self, act, **body):
        path = f"/v1/sessions/{self.state['session']}/{act}"
        body["step"] = self.state["step"]
        # The same key again is the same step: a lost answer may be asked for twice.
        key = {"idempotency-key": uuid.uuid4().hex}
        try:
            self.state = self.service.send(path, body, **key)
        except (urllib.error.URLError, TimeoutError):
            self.state = self.service.send(path, body, **key)
        return self.state

    def answer(self, outcome):
        return self._step("answer", outcome=outcome)

    def skip(self):
        return self._step("skip")

    def undo(self):
        return self._step("undo")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    address, policy = sys.argv[1:]
    session = Service(address, os.environ.get("ASKLESS_KEY")).begin(policy)
    while not session.is_done:
        test = session.state["test"]
        shown = "/".join(map(str, test.get("outcomes", ["a number"])))
        typed = input(f"{test['name']} ({shown}), costs {test['price']:g}: ").strip()
        try:
            session.answer(typed) if typed else session.skip()
        except ServiceError as error:
            print(error)
    print(f"=> {session.state['decision']}  (spent {session.state['spent']:g})")


if __name__ == "__main__":
    main()
