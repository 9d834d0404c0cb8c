"""Read likelihoods off a Bayesian network: how likely a test shows what in a case.

A case fixes the target, or all faults of a network; the network then says how likely
every other variable has which state. pyAgrum or pgmpy work that out, behind one small
adapter each.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from askless.exceptions import (
    DataFileError,
    InvalidTableError,
    MissingExtraError,
    suggest_name,
)
from askless.problem._frames import list_some, listed_names
from askless.problem.likelihood._cells import Grid
from askless.problem.likelihood._grid import Cell, CellReading, Cells, build_grid

__all__ = ["NONE_OF_THEM", "network_grid"]

NONE_OF_THEM = "none of them"

# Files that hold no program; pyAgrum would load a pickle as well.
SUFFIXES = (".bif", ".bifxml", ".dsl", ".net", ".uai", ".xdsl", ".xmlbif")

# States that say "nothing is wrong", in small letters. "No" is none of them: it may
# answer "is it broken?" as well as "does it work?".
HEALTHY = {"absent", "healthy", "none", "normal", "ok"}

Evidence = dict[str, str]


class Network(Protocol):
    """What is asked of a network, whoever works it out."""

    def list_names(self) -> list[str]:
        """Return the names of all variables, in an order that is always the same."""

    def list_states(self, name: str) -> list[str]:
        """Return the states of a variable, in order."""

    def work_out(
        self, evidence: Evidence, names: Sequence[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Return how likely the states of variables are, given those of others."""


class AgrumNetwork:
    """A network of pyAgrum."""

    def __init__(self, net: Any) -> None:
        self.net = net

    def list_names(self) -> list[str]:
        """Return the names of all variables, by their numbers."""
        return [str(self.net.variable(i).name()) for i in sorted(self.net.nodes())]

    def list_states(self, name: str) -> list[str]:
        """Return the states of a variable, in order."""
        return [str(label) for label in self.net.variable(name).labels()]

    def work_out(
        self, evidence: Evidence, names: Sequence[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Return how likely the states of variables are, given those of others."""
        inference = _import_agrum().LazyPropagation(self.net)
        inference.setEvidence(evidence)
        inference.makeInference()
        return {name: inference.posterior(name).toarray() for name in names}


class PgmpyNetwork:
    """A network of pgmpy."""

    def __init__(self, net: Any) -> None:
        self.net = net

    def list_names(self) -> list[str]:
        """Return the names of all variables, in alphabetical order."""
        return sorted(str(name) for name in self.net.nodes())

    def list_states(self, name: str) -> list[str]:
        """Return the states of a variable, in order."""
        return [str(state) for state in self._states(name)]

    def _states(self, name: str) -> list[Any]:
        return list(self.net.get_cpds(name).state_names[name])

    def work_out(
        self, evidence: Evidence, names: Sequence[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Return how likely the states of variables are, given those of others."""
        elimination = import_module("pgmpy.inference").VariableElimination(self.net)
        # States may be numbers, while they are text here.
        given = {
            name: next(s for s in self._states(name) if str(s) == state)
            for name, state in evidence.items()
        }
        found = {}
        for name in names:
            factor = elimination.query([name], evidence=given, show_progress=False)
            by_state = dict(
                zip(factor.state_names[name], factor.values.tolist(), strict=True)
            )
            found[name] = np.array([by_state[s] for s in self._states(name)])
        return found


def _import_agrum() -> Any:
    """Import pyAgrum, whose bindings warn; made errors, these warnings would crash."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_module("pyagrum")


def open_network(network: Any) -> Network:
    """Return a network that is a file, or an object of pyAgrum or pgmpy."""
    if isinstance(network, (str, Path)):
        return AgrumNetwork(_load(Path(network)))
    if hasattr(network, "get_cpds"):
        return PgmpyNetwork(network)
    if hasattr(network, "variable") and hasattr(network, "cpt"):
        return AgrumNetwork(network)
    raise InvalidTableError(
        "A network must be a file, a BayesNet of pyAgrum, or a network of pgmpy. Got "
        f"{type(network).__name__}. Read it by one of them first."
    )


def _load(path: Path) -> Any:
    if path.suffix.lower() not in SUFFIXES:
        raise DataFileError(
            f"A file of a network must end in one of {list_some(SUFFIXES, 9)}. Got "
            f"{path}. Save it as .bif."
        )
    if not path.is_file():
        raise DataFileError(
            f"The file must be there and readable. Got no file at {path}. Check the "
            "path."
        )
    try:
        agrum = _import_agrum()
    except ImportError:
        raise MissingExtraError(
            "Reading a network needs pyAgrum. Got none. Run: pip install "
            "'askless[network]'"
        ) from None
    try:
        return agrum.loadBN(str(path))
    except (agrum.GumException, UnicodeDecodeError) as error:
        said = " ".join(str(error).split())
        raise DataFileError(
            f"The file must hold a Bayesian network. Got: {said} in {path}. Correct "
            "it, or write it again."
        ) from error


def network_grid(
    network: Any,
    target: str | Sequence[str],
    *,
    tests: Sequence[str] | None = None,
    healthy: Mapping[str, str] | None = None,
) -> Grid:
    """Return the likelihoods of variables of a network; see Table.from_network."""
    net = open_network(network)
    names = net.list_names()
    faults = [target] if isinstance(target, str) else listed_names(target)
    for name in (*faults, *(tests or ()), *(healthy or ())):
        if name not in names:
            raise InvalidTableError(
                "Targets and tests must be variables of the network. Got "
                f"{name!r}. {suggest_name(str(name), names)}Use the name of a variable."
            )
    if isinstance(target, str):
        cases = {state: {target: state} for state in net.list_states(target)}
    else:
        cases = dict(_single_faults(net, faults, healthy or {}))
    asked = [n for n in names if n not in faults] if tests is None else list(tests)
    by_test: dict[str, dict[str, Cell]] = {name: {} for name in asked}
    prior: dict[str, float] = {}
    for case, evidence in cases.items():
        weight = _weigh(net, evidence)
        if weight <= 0:
            # The network cannot say what would be seen: it is left out.
            continue
        prior[case] = weight
        free = [name for name in asked if name not in evidence]
        shares = net.work_out(evidence, free)
        for name in asked:
            states = net.list_states(name)
            if name in evidence:
                by_test[name][case] = {s: float(s == evidence[name]) for s in states}
            else:
                found = shares[name].tolist()
                by_test[name][case] = dict(zip(states, found, strict=True))
    return build_grid(Cells(by_test, prior=prior), CellReading())


def _single_faults(
    net: Network, faults: Sequence[str], healthy: Mapping[str, str]
) -> Iterator[tuple[str, Evidence]]:
    """Yield the cases in which nothing is wrong, or one fault has one of its states."""
    usual = {name: _find_healthy(net, name, healthy.get(name)) for name in faults}
    yield NONE_OF_THEM, dict(usual)
    for name in faults:
        states = [s for s in net.list_states(name) if s != usual[name]]
        for state in states:
            case = name if len(states) == 1 else f"{name} {state}"
            yield case, usual | {name: state}


def _find_healthy(net: Network, name: str, chosen: str | None) -> str:
    states = net.list_states(name)
    if chosen is not None and str(chosen) in states:
        return str(chosen)
    found = [state for state in states if state.lower() in HEALTHY]
    if chosen is not None or len(found) != 1:
        got = f"{chosen!r}" if chosen is not None else "no such state"
        raise InvalidTableError(
            "Every fault must have one state in which nothing is wrong. Got "
            f"{got} for {name!r}, whose states are {list_some(states)}. Say which by "
            "healthy={fault: state}."
        )
    return found[0]


def _weigh(net: Network, evidence: Evidence) -> float:
    """Return how likely all states of some variables are together."""
    weight = 1.0
    given: Evidence = {}
    for name, state in evidence.items():
        shares = net.work_out(given, [name])[name]
        weight *= float(shares[net.list_states(name).index(state)])
        if weight <= 0:
            return 0.0
        given[name] = state
    return weight
