"""Rows of Ray are scored as in one process."""

import pytest

from askless.scale import score_batches
from tests.policy.examples import make_example
from tests.scale.test_batches import as_arrow
from tests.strategies import random_rows

pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("ray.data", reason="ray is not installed with its data sets")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", ["forest", "groups", "rule"])
def test_policies_score_on_workers(name, ray_cluster, rng):
    from askless.scale.ray import score

    policy = make_example(name)
    rows = as_arrow(random_rows(rng, policy.tests, 40))
    rows = rows.append_column("key", [list(range(40))])
    data = ray_cluster.data.from_arrow([rows[:15], rows[15:]])
    found = score(policy, data, keep=["key"]).take_all()
    expected = score_batches(policy, rows, keep=["key"]).read_all().to_pylist()
    assert sorted(found, key=lambda row: row["key"]) == expected
