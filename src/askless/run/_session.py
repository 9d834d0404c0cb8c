"""Run a policy on one case: the next test, its outcome, and so on to the decision.

A session knows one case and a policy, and keeps a log from which it can be replayed. It
does not know where outcomes come from: a person, a program, or a row of data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from askless._core.price._prices import Bill
from askless.exceptions import InvalidAnswerError, suggest_name
from askless.policy._base import Policy
from askless.policy._tree import Tree
from askless.problem import Outcome, Test
from askless.problem._column import is_missing
from askless.problem._frames import list_some
from askless.run._ahead import Branch, dearest_price, look_ahead, worst_ahead
from askless.run._evidence import Oddity, explain_stop, find_oddity, price_decision

__all__ = ["Session"]


class Moment(NamedTuple):
    """What a session must remember to come back to where it was."""

    state: Any
    # The test to run next; a policy may take its time to find it.
    test: int | None
    bill: Bill
    # The tests that were paid for, in order.
    bought: tuple[int, ...] = ()
    # The code of each test that was answered; None for one that says nothing.
    shown: Mapping[int, int | None] = MappingProxyType({})
    # What the policy takes an answer for, where no case that was left shows it.
    taken_as: Mapping[int, int] = MappingProxyType({})


class Step(NamedTuple):
    """An answer or a skip that was checked and not made yet: see :meth:`Session.take`.

    Attributes
    ----------
    entry : dict
        What the log will say of it; only values that JSON can hold.
    """

    entry: dict[str, Any]
    before: Moment
    after: Moment


class Session:
    """One case, asked test by test.

    Parameters
    ----------
    policy : Policy
        What to ask and what to decide.

    Attributes
    ----------
    log : list of dict
        One entry for each test so far: ``test``, ``outcome`` and ``paid``, or ``test``
        and ``skipped``, with ``paid`` if it was run and showed nothing clear.

    Examples
    --------
    >>> import askless
    >>> table = askless.Table([["dark", "dead"], ["dark", "live"], ["dim", "live"]],
    ...                       ["fuse", "bulb", "dimmer"], tests=["lamp", "socket"],
    ...                       costs={"lamp": 1, "socket": 5})
    >>> session = askless.solve(table).policy.start()
    >>> session.test, session.price
    ('lamp', 1.0)
    >>> session.answer("dark")
    >>> session.test, session.spent, session.decision
    ('socket', 1.0, None)
    >>> session.answer("live")
    >>> session.decision, session.spent
    ('bulb', 6.0)
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.log: list[dict[str, Any]] = []
        state = policy.initial_state()
        bill = policy.prices.open_bill()
        self._moment = Moment(state, policy.next_test(state), bill)
        self._past: list[Moment] = []

    @property
    def _test(self) -> int | None:
        return self._moment.test

    @property
    def test(self) -> str | None:
        """Name of the test to run next, or None when the policy decides."""
        return None if self._test is None else self.policy.tests[self._test].name

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What the next test can show, as text; empty if it shows a number."""
        if self._test is None:
            return ()
        return tuple(str(o) for o in self.policy.tests[self._test].outcomes)

    @property
    def price(self) -> float:
        """What the next test charges now; of a delayed one, with all that it orders.

        A test priced by outcome is quoted at its plain price.
        """
        if self._test is None:
            return 0.0
        return self._charge(self._moment.bill.copy(), -1)

    @property
    def price_at_most(self) -> float:
        """What the next test charges now if it shows its dearest outcome.

        Examples
        --------
        >>> import askless
        >>> costs = askless.Costs([1], by_outcome={0: {"dark": 9}})
        >>> table = askless.Table([["dark"], ["dim"]], ["a", "b"], costs=costs)
        >>> session = askless.solve(table).policy.start()
        >>> session.price, session.price_at_most
        (1.0, 9.0)
        """
        test = self._test
        if test is None or test not in self.policy.prices.by_outcome:
            return self.price
        return dearest_price(self.policy, test, self._moment.bill)

    @property
    def ordered(self) -> tuple[str, ...]:
        """The tests that answering orders: the next one, or all with a delayed one."""
        return tuple(self.policy.tests[test].name for test in self._order())

    @property
    def bought(self) -> tuple[str, ...]:
        """The tests that were paid for, in order."""
        return tuple(self.policy.tests[test].name for test in self._moment.bought)

    @property
    def spent(self) -> float:
        """What the case has paid so far."""
        return self._moment.bill.spent

    @property
    def left_at_worst(self) -> float:
        """The most that may still be spent, from the next test to the decision.

        Exact for a tree; for other policies, the cost of all that may be asked.
        """
        return worst_ahead(self.policy, self._moment.state, self._moment.bill)

    @property
    def decision(self) -> Outcome | None:
        """The decision, or None while there is a test to run."""
        return None if self._test is not None else self.decision_now

    @property
    def decision_now(self) -> Outcome:
        """What would be decided if no further test could be run."""
        return self.policy.answer(self._moment.state)

    @property
    def probabilities(self) -> dict[Outcome, float]:
        """Share of each class among what is still possible.

        A skipped test rules nothing out, though the policy goes on by one branch. After
        an answer that no case shows, these are the shares of the branch that the policy
        takes, as for rows of data; :attr:`shares_that_fit` are without the answer.
        """
        return dict(zip(self.policy.classes, self._shares().tolist(), strict=True))

    @property
    def certainty(self) -> float:
        """Share of what would be decided now; 1 for a number, which has no share.

        Among the cases that fit the answers; those that no case shows are left out.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> askless.solve(table).policy.start().certainty
        0.5
        """
        if self.policy.answers_number:
            return 1.0
        return float(self._shares_that_fit()[self.policy.decision(self._moment.state)])

    def _shares(self) -> NDArray[np.float64]:
        shown = self._moment.shown
        if None in shown.values():
            return self.policy.shares_given(self._moment.state, shown)
        return self.policy.class_shares(self._moment.state)

    def _shares_that_fit(self) -> NDArray[np.float64]:
        if self._moment.taken_as:
            return self.policy.shares_given(self._moment.state, self._moment.shown)
        return self._shares()

    @property
    def shares_that_fit(self) -> dict[Outcome, float]:
        """Share of each class, if answers that no case shows are left out.

        The same as :attr:`probabilities` as long as there are none.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table({"pain": ["sharp", "sharp", "dull"],
        ...                        "when": ["rest", "touch", "effort"]},
        ...                       ["a", "b", "c"], costs={"pain": 1, "when": 9})
        >>> session = askless.solve(table).policy.start()
        >>> session.answer("sharp")
        >>> session.answer("effort")
        >>> session.decision, session.shares_that_fit
        ('a', {'a': 0.5, 'b': 0.5, 'c': 0.0})
        """
        shares = self._shares_that_fit()
        return dict(zip(self.policy.classes, shares.tolist(), strict=True))

    @property
    def mistake_now(self) -> float | None:
        """What deciding now would cost in mistakes, on average.

        None if mistakes have no price, or if the policy is no tree.
        """
        shares = np.array(list(self.probabilities.values()))
        decision = self.policy.decision(self._moment.state)
        return price_decision(self.policy, shares, decision)

    @property
    def oddity(self) -> Oddity | None:
        """How unlikely the answers so far are, whatever is true of the case.

        None for policies that know nothing of chances (other policies than trees, and
        trees whose mistakes have no price), and where a test was skipped or no case
        fits at all.
        """
        now, policy = self._moment, self.policy
        if not isinstance(policy, Tree) or policy.mistakes is None:
            return None
        if None in now.shown.values() or now.taken_as:
            return None
        return find_oddity(policy, now.state)

    @property
    def recheck(self) -> tuple[str, ...]:
        """The fewest answers to look at again, since no case fits all of them.

        Empty as long as some case does, and for forests and ensembles, which do not
        know their cases. A tree knows of its cases what it asks for on their way;
        :meth:`Table.recheck` knows all.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0, 0, 0], [1, 1, 1]], ["a", "b"])
        >>> session = askless.Sequence.from_table(table, stops_early=False).start()
        >>> for outcome in (1, 1, 0):
        ...     session.answer(outcome)
        >>> session.recheck
        ('t2',)
        """
        shown = {t: code for t, code in self._moment.shown.items() if code is not None}
        levels = {t: self.policy.tests[t] for t in shown}
        seen = {t: c for t, c in shown.items() if c != levels[t].unknown_code}
        return tuple(self.policy.tests[t].name for t in self.policy.recheck(seen))

    @property
    def contradictions(self) -> dict[str, str | None]:
        """The answers that no case showed that was left, with what they were taken for.

        None stands for a policy that goes on as if the test was skipped. Empty for
        forests and ensembles, which do not know their cases.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table({"pain": ["sharp", "sharp", "dull"],
        ...                        "when": ["rest", "touch", "effort"]},
        ...                       ["a", "b", "c"], costs={"pain": 1, "when": 9})
        >>> session = askless.solve(table).policy.start()
        >>> session.answer("sharp")
        >>> session.answer("effort")
        >>> session.contradictions
        {'when': 'rest'}
        """
        found: dict[str, str | None] = {}
        for index, code in self._moment.taken_as.items():
            test = self.policy.tests[index]
            if self._moment.shown[index] != test.missing_code:
                is_skip = code == test.unknown_code
                found[test.name] = None if is_skip else test.label(code)
        return found

    def branches(self) -> list[Branch]:
        """Return what each outcome of the next test would lead to.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> session = askless.solve(table).policy.start()
        >>> [(branch.label, branch.decision) for branch in session.branches()]
        [('0', 'even'), ('1', 'odd')]
        """
        return look_ahead(self.policy, self._moment.state)

    def copy(self) -> Session:
        """Return a session at the same point, to try an answer on."""
        other = Session.__new__(Session)
        other.policy = self.policy
        other.log = [dict(entry) for entry in self.log]
        other._moment, other._past = self._moment, list(self._past)
        return other

    def answer(self, outcome: object, *, allow_unseen: bool = False) -> None:
        """Pay for the next test and move on with what it has shown.

        Parameters
        ----------
        outcome : object
            One of the test's outcomes, or a number if it shows numbers. ``None`` says
            that the test was run and its outcome is missing.
        allow_unseen : bool, default=False
            Take an outcome that the policy has never seen down the branch that takes
            all others, as rows of data do, instead of refusing it.

        Raises
        ------
        InvalidAnswerError
            If the test cannot show this, or there is nothing left to answer. The
            session stays as it was.
        """
        self.take(self.plan_answer(outcome, allow_unseen=allow_unseen))

    def skip(self, *, paid: bool = False) -> None:
        """Move on without an outcome of the next test.

        Parameters
        ----------
        paid : bool, default=False
            The test was run, and what it showed is not clear; else it was not run, and
            nothing is paid.
        """
        self.take(self.plan_skip(paid=paid))

    def plan_answer(self, outcome: object, *, allow_unseen: bool = False) -> Step:
        """Return the step that :meth:`answer` would make; the session does not move.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> session = askless.solve(table).policy.start()
        >>> step = session.plan_answer(1)
        >>> step.entry, session.spent
        ({'test': 'last bit', 'outcome': 1, 'paid': 1.0}, 0.0)
        >>> session.take(step)
        >>> session.decision
        'odd'
        """
        test = self._open_test()
        code = test.code_of(outcome)
        if code == test.unknown_code and not allow_unseen:
            hint = suggest_name(str(outcome), map(str, test.outcomes))
            raise InvalidAnswerError(
                f"The test {test.name!r} shows one of {list_some(test.outcomes, 12)}. "
                f"Got {outcome!r}. {hint}Use one of these, or skip the test."
            )
        entry = {"test": test.name, "outcome": _plain(outcome, test)}
        return self._plan(code, entry, shown=code)

    def plan_skip(self, *, paid: bool = False) -> Step:
        """Return the step that :meth:`skip` would make; the session does not move."""
        test = self._open_test()
        entry: dict[str, Any] = {"test": test.name, "skipped": True}
        return self._plan(test.unknown_code, entry, paid=paid)

    def take(self, step: Step) -> None:
        """Make a step that was planned here and now.

        Raises
        ------
        InvalidAnswerError
            If the session has moved since the step was planned.
        """
        if step.before is not self._moment:
            raise InvalidAnswerError(
                "A step must be planned where the session stands. Got one for "
                f"{step.entry['test']!r} that was planned before it moved. Plan it "
                "again."
            )
        self.log.append(step.entry)
        self._past.append(step.before)
        self._moment = step.after

    def undo(self) -> None:
        """Take back the last answer or skip, and what was paid for it."""
        if not self._past:
            raise InvalidAnswerError(
                "There must be an answer to take back. Got a session at its start. "
                "Answer the first test."
            )
        self._moment = self._past.pop()
        self.log.pop()

    def why(self) -> str:
        """Say in a sentence what the next test is for, or why the session is over.

        Examples
        --------
        >>> import askless
        >>> table = askless.Table([[0], [1]], ["even", "odd"], tests=["last bit"])
        >>> askless.solve(table).policy.start().why()
        "'last bit' costs 1; 2 decisions are possible, 'even' is the likeliest (50 %)."
        """
        shares = {k: v for k, v in self.probabilities.items() if v > 0}
        decision = self.decision
        if self.policy.answers_number:
            if decision is not None:
                return f"Decided {decision:g}. Spent {self.spent:g}."
            expected = f"{self.decision_now:g} is expected so far"
            return f"{self.test!r} costs {self.price:g}; {expected}."
        if decision is not None:
            # With costly mistakes it need not be the likeliest.
            share = shares.get(decision, 0.0)
            sure = "all known cases that fit are of this class"
            if self.recheck:
                sure = "no case fits all answers; look again at "
                sure += ", ".join(map(repr, self.recheck))
            elif share < 1 or self.policy.kind in ("forest", "ensemble"):
                sure = f"it has {_percent(share)}"
                if (mistake := self.mistake_now) is not None:
                    sure += f"; {explain_stop(self.policy, self.bought, mistake)}"
            odd = self.oddity
            doubt = "" if odd is None or not odd.is_rare else f" {odd}"
            return f"Decided {decision!r}: {sure}. Spent {self.spent:g}.{doubt}"
        likeliest = max(shares, key=lambda label: shares[label])
        return (
            f"{self.test!r} costs {self.price:g}; {len(shares)} "
            f"decision{'s are' if len(shares) > 1 else ' is'} possible, {likeliest!r} "
            f"is the likeliest ({_percent(shares[likeliest])})."
        )

    @classmethod
    def replay(cls, policy: Policy, log: Iterable[Mapping[str, Any]]) -> Session:
        """Return the session that a log describes.

        Raises
        ------
        InvalidAnswerError
            If the log is of another policy.
        """
        session = cls(policy)
        for entry in log:
            session.replay_entry(entry)
        return session

    def replay_entry(self, entry: Mapping[str, Any]) -> None:
        """Do what one entry of a log describes; see :meth:`replay`."""
        self.take(self.plan_entry(entry))

    def plan_entry(self, entry: Mapping[str, Any]) -> Step:
        """Return the step that one entry of a log describes."""
        asked = None if self.test is None else f"asks {self.test!r}"
        if entry.get("test") != self.test or asked is None:
            raise InvalidAnswerError(
                f"A log must follow the policy. Got {entry.get('test')!r} where the "
                f"policy {asked or 'has decided'}. Replay it with its own policy."
            )
        if entry.get("skipped"):
            return self.plan_skip(paid="paid" in entry)
        if "outcome" not in entry:
            raise InvalidAnswerError(
                "An entry of a log must have an outcome, or be skipped. Got neither "
                f"for {self.test!r}. Keep the log as the session wrote it."
            )
        return self.plan_answer(entry["outcome"], allow_unseen=True)

    def _open_test(self) -> Test:
        if self._test is None:
            raise InvalidAnswerError(
                "There must be a test to answer. Got a session that has decided "
                f"{self.decision!r}. Start a new one, or undo."
            )
        return self.policy.tests[self._test]

    def _order(self) -> list[int]:
        """Return the tests that running the next one buys, repeats left out."""
        test, state, bill = self._test, self._moment.state, self._moment.bill
        if test is None:
            return []
        if self.policy.prices.delayed[test] and not bill.has_paid(test):
            return list(dict.fromkeys(self.policy.tests_ahead(state)))
        return [test]

    def _charge(self, bill: Bill, code: int) -> float:
        assert self._test is not None
        if self.policy.prices.delayed[self._test] and not bill.has_paid(self._test):
            return bill.charge_together(self.policy.tests_ahead(self._moment.state))
        return bill.charge(self._test, code)

    def _plan(
        self,
        code: int,
        entry: dict[str, Any],
        *,
        shown: int | None = None,
        paid: bool = True,
    ) -> Step:
        """Return the step by a code; it pays if the test was run."""
        now, test = self._moment, self._test
        assert test is not None
        bill, bought = now.bill, now.bought
        if paid:
            bill = bill.copy()
            bought += tuple(t for t in self._order() if not bill.has_paid(t))
            entry["paid"] = self._charge(bill, code)
        # A test that was answered before still counts if it is skipped now.
        kept = now.shown.get(test) if shown is None else shown
        if shown is None:
            state = self.policy.skip(now.state, paid=paid)
        else:
            state = self.policy.advance(now.state, code)
        shown_now = {**now.shown, test: kept}
        taken_as = now.taken_as
        if shown is not None:
            followed = self.policy.code_followed(now.state, code)
            if followed != code:
                taken_as = {**taken_as, test: followed}
        next_test = self.policy.next_test(state)
        after = Moment(state, next_test, bill, bought, shown_now, taken_as)
        return Step(entry, now, after)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _plain(outcome: object, test: Test) -> object:
    """Return an outcome as a value for the log; None if missing.

    A number is logged as a number whatever its type was, for instance a Decimal.
    """
    if is_missing(outcome):
        return None
    if isinstance(outcome, np.generic):
        outcome = outcome.item()
    if test.kind == "number" and not isinstance(outcome, (int, float, str)):
        return float(outcome)  # type: ignore[arg-type]
    return outcome
