"""Files that were written long ago load, decide the same, and are written the same.

``files/NAME.json`` is a policy file of each kind, as the first version of the format
had it; ``NAME.expected.json`` has rows, and what the policy said of them then. Neither
is ever made again: a change that needs that is a change of the format.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from askless.exceptions import PolicyFileError
from askless.policy import load, policy_schema
from askless.policy._file import VERSION, dump, parse, policy_digest
from askless.policy.codec import CODECS
from tests.policy.examples import EXAMPLES, make_example

FILES = Path(__file__).parent / "files"
NAMES = sorted(
    path.stem for path in FILES.glob("*.json") if not path.stem.endswith(".expected")
)


def rows_of(policy, columns):
    """Return the rows of a file as arrays."""
    rows = {}
    for name, values in columns.items():
        if policy.test_by_name[name].kind == "number":
            rows[name] = np.array(values, dtype=np.float64)
        else:
            rows[name] = np.empty(len(values), dtype=object)
            rows[name][:] = values
    return rows


def test_every_kind_is_there():
    kinds = {
        json.loads((FILES / f"{name}.json").read_bytes())["kind"] for name in NAMES
    }
    assert kinds == set(CODECS)


@pytest.mark.parametrize("name", NAMES)
def test_an_old_file_is_written_back_to_the_byte(name):
    path = FILES / f"{name}.json"
    policy = load(path)
    assert dump(policy) == path.read_bytes()
    assert policy_digest(policy) == json.loads(path.read_bytes())["digest"]


@pytest.mark.parametrize("name", NAMES)
def test_an_old_file_decides_and_charges_as_it_did(name):
    policy = load(FILES / f"{name}.json")
    expected = json.loads((FILES / f"{name}.expected.json").read_bytes())
    rows = rows_of(policy, expected["rows"])
    decided, costs = policy.predict_and_cost(rows)
    assert decided.tolist() == policy.predict(rows).tolist() == expected["decisions"]
    assert costs.tolist() == policy.cost(rows).tolist() == expected["costs"]
    if policy.answers_number:
        return
    shares = policy.predict_proba(rows)
    assert np.allclose(shares, expected["shares"], rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_policy_still_makes_the_same_file(name):
    path = FILES / f"{name.replace(' ', '-')}.json"
    assert dump(make_example(name)) == path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_a_newer_version_is_refused(name, tmp_path):
    raw = (FILES / f"{name}.json").read_bytes()
    newer = raw.replace(
        b'"version": 1', b'"version": %d, "mood": "new"' % (VERSION + 1), 1
    )
    path = tmp_path / "newer.json"
    path.write_bytes(newer)
    for edited in (False, True):
        with pytest.raises(PolicyFileError, match=r"newer Askless wrote\. Update"):
            load(path, edited=edited)


def test_the_version_is_the_one_of_the_schema():
    schema = policy_schema()
    record = schema["$defs"]["PolicyRecord"] if "$defs" in schema else schema
    assert record["properties"]["version"]["enum"] == [VERSION]


def test_another_file_with_a_version_is_not_called_newer():
    with pytest.raises(PolicyFileError, match="must follow its schema"):
        parse(b'{"format": "other", "version": 9}')
