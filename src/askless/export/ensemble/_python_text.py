"""The parts of a Python module that are the same for every ensemble."""

from __future__ import annotations

__all__ = [
    "CASE",
    "DEEP",
    "HEAD",
    "JOINT",
    "LEAVES",
    "LIVE",
    "OUTCOMES",
    "VALUES",
    "WHOLE",
]

HEAD = '''\
"""Decides one case. Written by Askless; needs nothing but Python.

{summary}

    decide({{"name of a test": outcome, ...}})    the decision, on few tests
    explain(...)                                 also what was asked and spent
    full(...)                                    what the full model says, on every test
    case = Case()                                step by step: case.test, case.price,
                                                 case.answer(outcome), case.skip(),
                                                 case.spent, case.decision

Instead of a mapping, pass a function: it is called with the name of a test whenever
its outcome is needed, and for nothing else. None stands for a missing outcome.
"""

from itertools import accumulate
from math import ceil, exp, floor, inf, sqrt
from struct import pack, unpack

'''

VALUES = '''

def _code(test, value):
    """Return the code of an outcome: its level, "missing" or "never seen"."""
    if hasattr(value, "item"):
        value = value.item()
    try:
        if value is None or value != value:
            return N_LEVELS[test]
    except TypeError:
        return N_LEVELS[test]
    if OUTCOMES[test] is not None:
        return OUTCOMES[test].get(value, N_LEVELS[test] + 1)
    number = float(value)
    if number != number:
        return N_LEVELS[test]
    low, high = 0, len(CUTS[test])
    while low < high:
        middle = (low + high) // 2
        if CUTS[test][middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


def _goes_left(node, code):
    test, cut, _, missing_left = node
    if isinstance(cut, str):
        return cut[code] == "L"
    return code <= cut if code < N_LEVELS[test] else missing_left


def _descend(nodes, at, codes):
    """Return the first node from here on whose test is not known, or a leaf."""
    while (test := nodes[at][0]) in codes:
        at = at + 1 if _goes_left(nodes[at], codes[test]) else nodes[at][2]
    return at


def _single(number):
    """Round to single precision."""
    try:
        return unpack("f", pack("f", number))[0]
    except OverflowError:
        return inf if number > 0 else -inf


def _exp(power):
    """Return e to a power; infinite, and no error, if that is too large."""
    try:
        return exp(power)
    except OverflowError:
        return inf


def _add_up(tops):
    """Return the sums over all trees, in the order and precision of the source."""
    sums = list(OFFSET)
    for nodes, first, top in zip(TREES, OUTPUT, tops):
        for q, value in enumerate(nodes[top][2], first):
            sums[q] = _single(sums[q] + value) if IS_SINGLE else sums[q] + value
    return sums


def _sigmoid(score):
    if IS_SINGLE:
        power = _single(exp(min(-score, _single(88.7))))
        return _single(1.0 / _single(_single(power + 1.0) + _single(1e-16)))
    return 1.0 / (1.0 + _exp(-SLOPE * score))


def _softmax(scores):
    scores = [SLOPE * score for score in scores]
    largest = max(scores)
    if IS_SINGLE:
        powers = [_single(exp(_single(score - largest))) for score in scores]
        total = _single(sum(powers))
        return [_single(power / total) for power in powers]
    powers = [exp(score - largest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def _shares(sums):
    """Return the probability of each class."""
    scores = [total / DIVISOR for total in sums]
    if LINK == "share":
        return scores
    if LINK == "count":
        total = sum(scores)
        return [s / total if total > 0 else 1.0 / len(scores) for s in scores]
    if LINK == "logit":
        second = _sigmoid(scores[0])
        return [_single(1.0 - second) if IS_SINGLE else 1.0 - second, second]
    return _softmax(scores) if LINK == "softmax" else [_sigmoid(s) for s in scores]


def _decide(sums):
    """Return the class, or the number, that sums stand for."""
    scores = [total / DIVISOR for total in sums]
    if not CLASSES:
        if LINK == "sigmoid":
            return _sigmoid(scores[0])
        if LINK == "exp":
            return _single(_exp(scores[0])) if IS_SINGLE else _exp(scores[0])
        return scores[0]
    if LINK == "logit" and DECIDES_BY != "probability":
        is_second = scores[0] >= 0 if DECIDES_BY == "at least 0" else scores[0] > 0
        return CLASSES[is_second]
    if DECIDES_BY == "probability":
        scores = _shares(sums)
    best = max(scores)
    if DECIDES_BY == "nearly":
        best = best - 1e-12 * abs(best)
    return CLASSES[next(i for i, score in enumerate(scores) if score >= best)]
'''

WHOLE = '''

def _measure(tree, codes):
    """Return what a tree amounts to: its node, bounds, and what it waits for."""
    top = _descend(TREES[tree], 0, codes)
    mean, low, high, spread, score = WHOLES[tree][top]
    test = TREES[tree][top][0]
    return top, mean, low, high, spread, {test: score} if test >= 0 else {}, ()
'''

LIVE = '''

def _leaf(node):
    """Return what a leaf amounts to: weight, mean, least, largest, variance."""
    _, weight, values = node
    low, high = [floor(v * UNIT) for v in values], [ceil(v * UNIT) for v in values]
    return weight, values, low, high, 0.0


def _list_open(nodes, top, codes):
    """Return the splits of a tree that are open, parents first, with their children."""
    live, stack = [], [top]
    while stack:
        at = stack.pop()
        left = _descend(nodes, at + 1, codes)
        right = _descend(nodes, nodes[at][2], codes)
        live.append((at, left, right))
        stack.extend(child for child in (right, left) if nodes[child][0] >= 0)
    return live
'''

DEEP = '''

def _measure(tree, codes):
    """Return what a tree amounts to, from the leaves that it can still reach.

    These are its node, its mean, bounds and variance, how much it waits for each test,
    and the splits that are open, with their children.
    """
    nodes = TREES[tree]
    top = _descend(nodes, 0, codes)
    if nodes[top][0] < 0:
        _, values, low, high, _ = _leaf(nodes[top])
        return top, [round(v * UNIT) for v in values], low, high, 0, {}, ()
    live, found = _list_open(nodes, top, codes), {}
    for _, *children in live:
        for child in children:
            if nodes[child][0] < 0:
                found[child] = _leaf(nodes[child])
    gaps = []
    for at, left, right in reversed(live):
        wl, ml, ll, hl, sl = found[left]
        wr, mr, lr, hr, sr = found[right]
        both, spread, gap = wl + wr, wl * sl + wr * sr, 0.0
        for a, b in zip(ml, mr):
            spread += wl * wr / both * (a - b) * (a - b)
            gap += abs(a - b)
        mean = [(wl * a + wr * b) / both for a, b in zip(ml, mr)]
        low, high = list(map(min, ll, lr)), list(map(max, hl, hr))
        found[at] = both, mean, low, high, spread / both
        gaps.append((nodes[at][0], sqrt(wl * wr) * gap))
    weight, mean, low, high, spread = found[top]
    need = {}
    for test, gap in gaps:
        need[test] = need.get(test, 0) + 1 + round(gap / weight * SCORE_UNIT)
    whole = [min(max(round(m * UNIT), a), b) for m, a, b in zip(mean, low, high)]
    return top, whole, low, high, round(spread * SPREAD_UNIT), need, live
'''

OUTCOMES = '''

def _bound(tree, top, live):
    """Bound a tree for each outcome of the test at its top: (end, low, high) by run."""
    nodes = TREES[tree]
    test, ends = nodes[top][0], set()
    n_levels = N_LEVELS[test]
    for at, _, _ in live:
        if nodes[at][0] == test:
            cut = nodes[at][1]
            if isinstance(cut, str):
                ends = set(range(1, n_levels + 2))
                break
            ends.add(min(cut + 1, n_levels))
    ends |= {n_levels, n_levels + 2}
    runs = []
    for end in sorted(ends):
        found = {}
        for at, left, right in reversed(live):
            if nodes[at][0] == test:
                left = right = left if _goes_left(nodes[at], end - 1) else right
            for child in (left, right):
                if child not in found:
                    found[child] = _leaf(nodes[child])[2:4]
            (ll, hl), (lr, hr) = found[left], found[right]
            found[at] = list(map(min, ll, lr)), list(map(max, hl, hr))
        runs.append((end, *found[top]))
    return runs


def _outcome_sums(case):
    """Return the least and the largest sums for each outcome of each test.

    Trees that wait for the same test agree on what it will show. What has ended stands
    behind them, as a test of one outcome.
    """
    ended_low, ended_high = list(START), list(START)
    lows = [[[0] * (n + 3) for n in N_LEVELS] for _ in START]
    highs = [[[0] * (n + 3) for n in N_LEVELS] for _ in START]
    for tree, part in enumerate(case._parts):
        out, test = OUTPUT[tree], TREES[tree][part[0]][0]
        if test < 0:
            for q, (a, b) in enumerate(zip(part[2], part[3]), out):
                ended_low[q] += a
                ended_high[q] += b
            continue
        if case._runs[tree] is None:
            live = part[-1] or _list_open(TREES[tree], part[0], case._codes)
            case._runs[tree] = _bound(tree, part[0], live)
        begin = 0
        for end, low, high in case._runs[tree]:
            # Noted where a run begins and ends; added up over the codes below.
            for q, (a, b) in enumerate(zip(low, high), out):
                lows[q][test][begin] += a
                lows[q][test][end] -= a
                highs[q][test][begin] += b
                highs[q][test][end] -= b
            begin = end
    lows = [[list(accumulate(row))[:-1] for row in rows] for rows in lows]
    highs = [[list(accumulate(row))[:-1] for row in rows] for rows in highs]
    for q in range(len(START)):
        lows[q].append([ended_low[q]])
        highs[q].append([ended_high[q]])
    return lows, highs


def _least_leads(sums, first):
    """Return how far a class is ahead of each other one at least."""
    lows, highs = sums
    if TARGET == "two classes":
        lead = sum(map(min, lows[0])) if first else -sum(map(max, highs[0]))
        return {1 - first: lead}
    return {
        q: sum(
            min(a - b for a, b in zip(ours, theirs))
            for ours, theirs in zip(lows[first], highs[q])
        )
        for q in range(len(START))
        if q != first
    }
'''

JOINT = '''

def _holds_jointly(case, first):
    """Return whether no outcome of what is open can change who leads."""
    if not _is_near(case, first):
        return False
    return min(_least_leads(_outcome_sums(case), first).values(), default=inf) > SLACK


def _is_near(case, first):
    """Return whether the lead is a good part of what other bounds leave open."""
    total, low, high = case._total, case._low, case._high
    if TARGET == "two classes":
        open_part = total[0] - low[0] if first else high[0] - total[0]
        return float(total[0] if first else -total[0]) >= 0.35 * open_part
    return all(
        float(total[first] - total[q])
        >= 0.35 * (float(total[first] - low[first]) + float(high[q] - total[q]))
        for q in range(len(total))
        if q != first
    )
'''

LEAVES = '''

def _holds_jointly(case, first):
    """Return whether a class is ahead of all others, by the leaves that are left.

    It then leads by at least as much: what is expected looks at whole subtrees, and may
    say something else.
    """
    sums, total = _outcome_sums(case), case._total
    for first in range(len(CLASSES)):
        leads = _least_leads(sums, first)
        if min(leads.values(), default=inf) <= SLACK:
            continue
        if TARGET == "two classes":
            sign = 1 if first else -1
            if sign * total[0] <= SLACK:
                case._lifted[0] = sign * leads[1 - first]
            return True
        found = total[first]
        for q, lead in leads.items():
            if found - total[q] <= SLACK:
                found = total[q] + lead
        case._lifted[first] = found
        return True
    return False
'''

CASE = '''

def _first_parts():
    """Return what each tree amounts to when nothing is known; worked out once."""
    if not _FIRST:
        _FIRST.extend(_measure(tree, {}) for tree in range(len(TREES)))
    return list(_FIRST)


_FIRST = []
_USERS = [[] for _ in TESTS]
for _tree, _nodes in enumerate(TREES):
    for _test in sorted({node[0] for node in _nodes if node[0] >= 0}):
        _USERS[_test].append(_tree)


class Case:
    """One case, step by step.

    ``test`` is what to ask next, None once nothing more is needed; ``price`` what that
    would charge now. ``spent`` and ``asked`` are what was bought so far, ``decision``,
    ``probabilities`` and ``sums`` what it would come to.
    """

    def __init__(self):
        self.asked, self.spent = [], 0.0
        self._codes, self._closed = {}, set()
        self._paid, self._is_open = set(), set()
        self._parts = _first_parts()
        self._runs = [None] * len(TREES)
        self._lifted = {}
        self._total, self._low, self._high = list(START), list(START), list(START)
        self._spread = [0] * N_KINDS
        self._need = [[0] * len(TESTS) for _ in range(N_KINDS)]
        self._n_waiting = 0
        for tree in range(len(TREES)):
            self._add(tree, 1)
        self._look()

    def answer(self, outcome):
        """Note what the next test has shown."""
        test = self._next
        code = _code(test, outcome)
        self.asked.append(TESTS[test])
        self.spent += self._charge(test, code)
        trees = [t for t in _USERS[test] if test in self._needs(t)]
        for tree in trees:
            self._add(tree, -1)
        self._codes[test] = code
        self._closed.add(test)
        for tree in trees:
            self._parts[tree] = _measure(tree, self._codes)
            self._add(tree, 1)
        for tree in trees if IS_DEEP else _USERS[test]:
            self._runs[tree] = None
        self._look()

    def skip(self, paid=False):
        """Go on without the next test; ``paid`` if it was run and showed nothing."""
        if paid:
            self.spent += self._charge(self._next, -1)
        self._closed.add(self._next)
        self._look()

    @property
    def test(self):
        return None if self._next is None else TESTS[self._next]

    @property
    def price(self):
        if self._next is None:
            return None
        before = set(self._paid), set(self._is_open)
        price = self._charge(self._next, -1)
        self._paid, self._is_open = before
        return price

    @property
    def sums(self):
        if self._n_waiting:
            lifted = self._lifted
            return [lifted.get(q, total) / UNIT for q, total in enumerate(self._total)]
        return _add_up([part[0] for part in self._parts])

    @property
    def decision(self):
        return _decide(self.sums)

    @property
    def probabilities(self):
        return dict(zip(CLASSES, _shares(self.sums))) if CLASSES else None

    def _needs(self, tree):
        return self._parts[tree][5]

    def _add(self, tree, sign):
        """Add what a tree amounts to, or take it back."""
        _, mean, low, high, spread, need, _ = self._parts[tree]
        first = OUTPUT[tree]
        kind = first if N_KINDS > 1 else 0
        for q in range(len(mean)):
            self._total[first + q] += sign * mean[q]
            self._low[first + q] += sign * low[q]
            self._high[first + q] += sign * high[q]
        self._spread[kind] += sign * spread
        for test, amount in need.items():
            self._need[kind][test] += sign * amount
        self._n_waiting += sign * bool(need)

    def _look(self):
        """See who leads, whether that can change, and what to buy next."""
        self._next = None
        self._lifted = {}
        if self._n_waiting == 0:
            return
        total, low, high = self._total, self._low, self._high
        first = second = int(total[0] > 0)
        lead, kinds = 1.0, (0,)
        if TARGET == "number":
            is_settled = high[0] - low[0] <= TOLERANCE
        elif TARGET == "two classes":
            is_settled = low[0] > SLACK or high[0] < -SLACK
            lead = abs(float(total[0])) / UNIT
        else:
            rank = low if IS_VOTE else total
            first = rank.index(max(rank))
            is_settled = all(self._holds(first, q) for q in range(len(rank)))
            first = total.index(max(total))
            others = [q for q in range(len(total)) if q != first] or [first]
            second = max(others, key=lambda q: (total[q], -q))
            lead = float(total[first] - total[second]) / UNIT
            kinds = (first, second) if N_KINDS > 1 else (0,)
        if IS_JOINT and not is_settled:
            is_settled = _holds_jointly(self, first)
        if VARIES_TOGETHER:
            deviation = float(sum(sum(self._need[k]) for k in kinds)) / SCORE_UNIT
        else:
            deviation = sqrt(float(sum(self._spread[k] for k in kinds)) / SPREAD_UNIT)
        z = lead / deviation if deviation > 0 else inf
        is_sure = THRESHOLD < inf and z >= THRESHOLD
        if is_sure or (is_settled and not IS_COMPLETE):
            return
        chosen = self._choose(kinds)
        if chosen is not None and self.spent + self._most(chosen) <= MAX_COST:
            self._next = chosen

    def _most(self, test):
        """Return the most that a test can charge now, whatever it shows."""
        if DELAYED[test] and test not in self._paid:
            paid, is_open = set(self._paid), set(self._is_open)
            amount = self._charge(test, -1)
            self._paid, self._is_open = paid, is_open
            return amount
        return max(self._price(test, code) for code in range(-1, N_LEVELS[test]))

    def _holds(self, first, q):
        """Return whether one class cannot overtake another."""
        margin = self._low[first] - self._high[q] - SLACK
        return q == first or margin > 0 or (margin == 0 and IS_VOTE and first < q)

    def _choose(self, kinds):
        """Return the test that most waits for, for its price; None if nothing does."""
        scores = []
        for test in range(len(TESTS)):
            score = 0.0
            for kind, need in enumerate(self._need):
                score += need[test] if kind in kinds else 0.3 * need[test]
            if test in self._closed or score <= 0:
                scores.append(0.0)
                continue
            price = self._price(test, -1)
            inverse = 1.0 / max(price, 1e-270) if price > 0 else inf
            scores.append(score * (inverse * EAGERNESS[test]))
        best = max(scores, default=0.0)
        if best <= 0:
            return None
        return next(t for t, s in enumerate(scores) if s * (1.0 + 1e-12) >= best)

    def _price(self, test, code):
        if test in self._paid:
            return 0.0
        if 0 <= code < len(BY_OUTCOME[test]):
            return BY_OUTCOME[test][code]
        return DISCOUNTED[test] if GROUP[test] in self._is_open else FULL[test]

    def _charge(self, test, code):
        """Charge for a test; a delayed one orders all that may still be asked."""
        if not DELAYED[test] or test in self._paid:
            ordered = [(test, code)]
        else:
            ordered = [(t, -1) for t in range(len(TESTS)) if self._is_wanted(t)]
        amount = 0.0
        for test, code in ordered:
            amount += self._price(test, code)
            self._paid.add(test)
            if GROUP[test] >= 0:
                self._is_open.add(GROUP[test])
        return amount

    def _is_wanted(self, test):
        if test in self._closed:
            return False
        return not IS_DEEP or any(need[test] > 0 for need in self._need)


def explain(case):
    """Return the decision, the probabilities, what was asked and what it cost."""
    ask = case if callable(case) else case.get
    found = Case()
    while found.test is not None:
        found.answer(ask(found.test))
    return {
        "decision": found.decision,
        "probabilities": found.probabilities,
        "asked": found.asked,
        "spent": found.spent,
    }


def decide(case):
    """Return the decision for one case."""
    return explain(case)["decision"]


def full(case):
    """Return what the full model says: its decision, probabilities and sums."""
    ask = case if callable(case) else case.get
    codes = {test: _code(test, ask(name)) for test, name in enumerate(TESTS)}
    sums = _add_up([_descend(nodes, 0, codes) for nodes in TREES])
    shares = dict(zip(CLASSES, _shares(sums))) if CLASSES else None
    return {"decision": _decide(sums), "probabilities": shares, "sums": sums}
'''
