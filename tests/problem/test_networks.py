"""Likelihoods read off a Bayesian network."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askless.exceptions import DataFileError, InvalidTableError, MissingExtraError
from askless.problem import Table
from askless.problem.likelihood import _networks

gum = pytest.importorskip("pyagrum")

SHAPE = "a{absent|mild|bad}->x{no|yes};b{ok|broken}->x;b->y[3];x->z{0|1};a->b"


def make(seed, shape=SHAPE):
    gum.initRandom(seed)
    return gum.fastBN(shape)


def joint(net):
    """Return every state of the world with its probability, by multiplying tables."""
    names = [net.variable(i).name() for i in sorted(net.nodes())]
    labels = [net.variable(name).labels() for name in names]
    worlds = {}
    for states in itertools.product(*labels):
        world = dict(zip(names, states, strict=True))
        chance = 1.0
        for name in names:
            cpt = net.cpt(name)
            chance *= cpt[{n: world[n] for n in cpt.names}]
        worlds[states] = chance
    return names, worlds


def given_that(names, worlds, evidence, name):
    """Return how likely each state of a variable is, given those of others."""
    found = {}
    for states, chance in worlds.items():
        world = dict(zip(names, states, strict=True))
        if all(world[n] == s for n, s in evidence.items()):
            found[world[name]] = found.get(world[name], 0.0) + chance
    total = sum(found.values())
    return {state: chance / total for state, chance in found.items()}, total


@settings(max_examples=15)
@given(st.integers(1, 10_000))
def test_a_case_is_a_state_of_the_target(seed):
    net = make(seed)
    names, worlds = joint(net)
    table = Table.from_network(net, "a")
    assert table.cases == ("absent", "mild", "bad")
    assert table.test_names == ("x", "b", "y", "z")
    for case, state in enumerate(table.cases):
        assert given_that(names, worlds, {}, "a")[0][state] == pytest.approx(
            table.prior[case]
        )
        for i, test in enumerate(table.tests):
            plain, _ = given_that(names, worlds, {"a": state}, test.name)
            chances = table.possible.outcome_chances(i)[:-1, case]
            shown = dict(zip(test.outcomes, chances, strict=True))
            assert shown == pytest.approx(plain)


@settings(max_examples=15)
@given(st.integers(1, 10_000))
def test_single_faults_leave_all_others_healthy(seed):
    net = make(seed)
    names, worlds = joint(net)
    table = Table.from_network(net, ["a", "b"], tests=["x", "b"])
    faults = {
        "none of them": {"a": "absent", "b": "ok"},
        "a mild": {"a": "mild", "b": "ok"},
        "a bad": {"a": "bad", "b": "ok"},
        "b": {"a": "absent", "b": "broken"},
    }
    assert table.cases == tuple(faults)
    weights = [given_that(names, worlds, e, "x")[1] for e in faults.values()]
    assert np.allclose(table.prior, np.array(weights) / sum(weights))
    for case, evidence in enumerate(faults.values()):
        plain, _ = given_that(names, worlds, evidence, "x")
        assert table.possible.outcome_chances(0)[1, case] == pytest.approx(plain["yes"])
    # Looking at a fault shows what it is.
    assert [table.tests[1].outcomes[code] for code in table.codes[1]] == [
        "ok",
        "ok",
        "ok",
        "broken",
    ]


def test_a_file_is_read(tmp_path):
    net = make(1)
    path = tmp_path / "net.bif"
    net.saveBIF(str(path))
    table = Table.from_network(path, "a", costs={"x": 1, "b": 2, "y": 3, "z": 4})
    direct = Table.from_network(net, "a", tests=table.test_names)
    assert table.prices.full.sum() == 10
    assert np.allclose(table.likelihoods[0], direct.likelihoods[0], atol=1e-6)
    assert "independent of each other given the case" in table.notes[0]


def test_an_impossible_case_is_left_out():
    net = make(1, "a{one|two|three}->x{no|yes}")
    net.cpt("a")[:] = [0.5, 0, 0.5]
    assert Table.from_network(net, "a").cases == ("one", "three")


def test_a_network_of_pgmpy_says_the_same():
    models = pytest.importorskip("pgmpy.models")
    factors = pytest.importorskip("pgmpy.factors.discrete")
    net = models.DiscreteBayesianNetwork([("a", "x")])
    net.add_cpds(
        factors.TabularCPD("a", 2, [[0.8], [0.2]], state_names={"a": ["cold", "flu"]}),
        factors.TabularCPD(
            "x", 2, [[0.9, 0.2], [0.1, 0.8]], ["a"], [2],
            state_names={"x": [0, 1], "a": ["cold", "flu"]},
        ),
    )  # fmt: skip
    table = Table.from_network(net, "a")
    assert table.cases == ("cold", "flu")
    assert np.allclose(table.prior, [0.8, 0.2])
    assert np.allclose(table.likelihoods[0], [[0.9, 0.2], [0.1, 0.8]])


@pytest.mark.parametrize(
    ("target", "options", "match"),
    [
        ("A", {}, r"must be variables of the network. Got 'A'"),
        ("a", {"tests": ["xx"]}, r"Got 'xx'"),
        (["a", "z"], {}, r"Got no such state for 'z', whose states are '0', '1'"),
        (["a"], {"healthy": {"a": "fine"}}, r"Got 'fine' for 'a', whose states"),
        (["a"], {"healthy": {"c": "fine"}}, r"Got 'c'"),
    ],
)
def test_what_is_not_in_the_network_is_refused(target, options, match):
    with pytest.raises(InvalidTableError, match=match):
        Table.from_network(make(1), target, **options)


def test_a_healthy_state_can_be_chosen():
    table = Table.from_network(make(1), ["z"], healthy={"z": "1"})
    assert table.cases == ("none of them", "z")


def test_files_that_are_no_network_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InvalidTableError, match="must be a file, a BayesNet"):
        Table.from_network(7, "a")
    with pytest.raises(DataFileError, match=r"must end in one of '.bif'.*Got net.pkl"):
        Table.from_network("net.pkl", "a")
    with pytest.raises(DataFileError, match="Got no file at"):
        Table.from_network(tmp_path / "net.bif", "a")
    path = tmp_path / "net.bif"
    path.write_text("network { nonsense")
    with pytest.raises(DataFileError, match="must hold a Bayesian network"):
        Table.from_network(path, "a")

    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(_networks, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install 'askless\[network\]'"):
        Table.from_network(path, "a")
