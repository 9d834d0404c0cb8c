"""The parts of a script that are the same for every ensemble."""

from __future__ import annotations

__all__ = [
    "CASE",
    "DEEP",
    "HEAD",
    "JOINT",
    "LEAVES",
    "LIVE",
    "MODEL",
    "MODULE_TAIL",
    "OUTCOMES",
    "SCRIPT_TAIL",
    "WHOLE",
]

HEAD = """\
// Decides one case. Written by Askless; needs nothing else.
//
// {summary}
//
//   decide({{"name of a test": outcome, ...}})   the decision, on few tests
//   explain(...)                                also what was asked and spent
//   full(...)                                   what the full model says, on every test
//   const one = new Case()                      step by step: one.test, one.price,
//                                               one.answer(outcome), one.skip(),
//                                               one.spent, one.decision
//
// Instead of an object, pass a function: it is called with the name of a test whenever
// its outcome is needed, and for nothing else. null, undefined and NaN stand for a
// missing outcome.
"use strict";

"""

MODEL = """
function codeOf(test, value) {
  const missing = N_LEVELS[test];
  if (value === null || value === undefined || Number.isNaN(value)) return missing;
  if (OUTCOMES[test] !== null) {
    const found = find(OUTCOMES[test], value);
    return found === undefined ? missing + 1 : found;
  }
  const number = toNumber(value, TESTS[test]);
  if (number === null) return missing;
  let low = 0;
  let high = CUTS[test].length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (CUTS[test][middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

function goesLeft([test, cut, , missingLeft], code) {
  if (typeof cut === "string") return cut[code] === "L";
  return code < N_LEVELS[test] ? code <= cut : missingLeft;
}

// The first node from here on whose test is not known, or a leaf.
function descend(nodes, at, codes) {
  while (codes.has(nodes[at][0])) {
    at = goesLeft(nodes[at], codes.get(nodes[at][0])) ? at + 1 : nodes[at][2];
  }
  return at;
}

// The sums over all trees, in the order and precision of the source.
function addUp(tops) {
  const sums = OFFSET.slice();
  tops.forEach((top, tree) => {
    TREES[tree][top][2].forEach((value, i) => {
      const q = OUTPUT[tree] + i;
      sums[q] = IS_SINGLE ? Math.fround(sums[q] + value) : sums[q] + value;
    });
  });
  return sums;
}

function sigmoid(score) {
  if (!IS_SINGLE) return 1 / (1 + Math.exp(-SLOPE * score));
  const power = Math.fround(Math.exp(Math.min(-score, Math.fround(88.7))));
  const below = Math.fround(Math.fround(power + 1) + Math.fround(1e-16));
  return Math.fround(1 / below);
}

function softmax(scores) {
  const round = IS_SINGLE ? Math.fround : (x) => x;
  const steep = scores.map((score) => SLOPE * score);
  const top = Math.max(...steep);
  const powers = steep.map((score) => round(Math.exp(round(score - top))));
  const total = round(powers.reduce((sum, power) => sum + power, 0));
  return powers.map((power) => round(power / total));
}

// The probability of each class.
function sharesOf(sums) {
  const scores = sums.map((sum) => sum / DIVISOR);
  if (LINK === "share") return scores;
  if (LINK === "count") {
    const total = scores.reduce((sum, score) => sum + score, 0);
    return scores.map((score) => (total > 0 ? score / total : 1 / scores.length));
  }
  if (LINK === "logit") {
    const second = sigmoid(scores[0]);
    return [IS_SINGLE ? Math.fround(1 - second) : 1 - second, second];
  }
  return LINK === "softmax" ? softmax(scores) : scores.map(sigmoid);
}

// The class, or the number, that sums stand for.
function decideBy(sums) {
  let scores = sums.map((sum) => sum / DIVISOR);
  if (CLASSES.length === 0) {
    if (LINK === "sigmoid") return sigmoid(scores[0]);
    if (LINK !== "exp") return scores[0];
    return IS_SINGLE ? Math.fround(Math.exp(scores[0])) : Math.exp(scores[0]);
  }
  if (LINK === "logit" && DECIDES_BY !== "probability") {
    const isSecond = DECIDES_BY === "at least 0" ? scores[0] >= 0 : scores[0] > 0;
    return CLASSES[isSecond ? 1 : 0];
  }
  if (DECIDES_BY === "probability") scores = sharesOf(sums);
  let best = Math.max(...scores);
  if (DECIDES_BY === "nearly") best -= 1e-12 * Math.abs(best);
  return CLASSES[scores.findIndex((score) => score >= best)];
}

// Sums of whole numbers beyond what one number holds: each in two parts, exact.
const PART = 2 ** 30;
class Sums {
  constructor(values) {
    this.high = new Float64Array(values.length);
    this.low = new Float64Array(values.length);
    values.forEach((value, q) => this.add(q, value, 1));
  }

  add(q, value, sign) {
    const high = Math.floor(value / PART);
    this.high[q] += sign * high;
    this.low[q] += sign * (value - high * PART);
  }

  // A sum, or how far it is ahead of another; rounded once, so its sign is right.
  at(q) {
    return this.high[q] * PART + this.low[q];
  }

  ahead(q, other, p) {
    return (this.high[q] - other.high[p]) * PART + (this.low[q] - other.low[p]);
  }
}

// How far one sum is ahead of another and of what rounding may do.
const SLACKS = new Sums([SLACK]);
function margin(ours, first, theirs, q) {
  const high = ours.high[first] - theirs.high[q] - SLACKS.high[0];
  return high * PART + (ours.low[first] - theirs.low[q] - SLACKS.low[0]);
}

// Round to the nearest whole number, halves to an even one.
function rint(x) {
  const up = Math.round(x);
  return up - x === 0.5 && up % 2 !== 0 ? up - 1 : up;
}
"""

WHOLE = """
// What a tree amounts to: its node, bounds, and what it waits for.
function measure(tree, codes) {
  const top = descend(TREES[tree], 0, codes);
  const [mean, low, high, spread, score] = WHOLES[tree][top];
  const test = TREES[tree][top][0];
  const need = new Map(test < 0 ? [] : [[test, score]]);
  return { top, mean, low, high, spread, need };
}
"""

LIVE = """
// What a leaf amounts to.
function leafOf([, weight, values]) {
  return {
    weight,
    mean: values,
    low: values.map((value) => Math.floor(value * UNIT)),
    high: values.map((value) => Math.ceil(value * UNIT)),
    spread: 0,
  };
}

const least = (a, b) => a.map((value, q) => Math.min(value, b[q]));
const largest = (a, b) => a.map((value, q) => Math.max(value, b[q]));

// The splits of a tree that are open, children first, with their children.
function listOpen(nodes, top, codes) {
  const live = [];
  const stack = [top];
  while (stack.length > 0) {
    const at = stack.pop();
    const [left, right] = [at + 1, nodes[at][2]];
    const children = [left, right].map((child) => descend(nodes, child, codes));
    live.push([at, ...children]);
    stack.push(...children.filter((child) => nodes[child][0] >= 0));
  }
  return live.reverse();
}
"""

DEEP = """
// What two children amount to together.
function join(a, b) {
  const both = a.weight + b.weight;
  let spread = a.weight * a.spread + b.weight * b.spread;
  let gaps = 0;
  const mean = a.mean.map((value, q) => {
    const gap = value - b.mean[q];
    spread += a.weight * b.weight / both * gap * gap;
    gaps += Math.abs(gap);
    return (a.weight * value + b.weight * b.mean[q]) / both;
  });
  return {
    weight: both, mean, low: least(a.low, b.low), high: largest(a.high, b.high),
    spread: spread / both, gap: Math.sqrt(a.weight * b.weight) * gaps,
  };
}

// What a tree amounts to, from the leaves that it can still reach: its node, its mean,
// bounds and variance, how much it waits for each test, and the splits that are open.
function measure(tree, codes) {
  const nodes = TREES[tree];
  const top = descend(nodes, 0, codes);
  const need = new Map();
  if (nodes[top][0] < 0) {
    const { mean, low, high } = leafOf(nodes[top]);
    return { top, mean: mean.map((v) => rint(v * UNIT)), low, high, spread: 0, need };
  }
  const live = listOpen(nodes, top, codes);
  const found = new Map();
  const partOf = (at) => found.get(at) || leafOf(nodes[at]);
  for (const [at, left, right] of live) {
    found.set(at, join(partOf(left), partOf(right)));
  }
  const { weight, mean, low, high, spread } = found.get(top);
  for (const [at] of live) {
    const test = nodes[at][0];
    const part = 1 + rint(found.get(at).gap / weight * SCORE_UNIT);
    need.set(test, (need.get(test) || 0) + part);
  }
  const whole = mean.map((value, q) =>
    Math.min(Math.max(rint(value * UNIT), low[q]), high[q]));
  return {
    top, mean: whole, low, high, spread: rint(spread * SPREAD_UNIT), need, live,
  };
}
"""

OUTCOMES = """
// Bound a tree for each outcome of the test at its top: runs of codes.
function bound(tree, top, live) {
  const nodes = TREES[tree];
  const test = nodes[top][0];
  const nLevels = N_LEVELS[test];
  const same = live.map(([at]) => nodes[at]).filter((node) => node[0] === test);
  const ends = new Set([nLevels, nLevels + 2]);
  for (const [, cut] of same) {
    if (typeof cut !== "string") ends.add(Math.min(cut + 1, nLevels));
    else for (let code = 1; code < nLevels + 2; code += 1) ends.add(code);
  }
  return [...ends].sort((a, b) => a - b).map((end) => {
    const found = new Map();
    const boundsOf = (at) => found.get(at) || leafOf(nodes[at]);
    for (const [at, left, right] of live) {
      let children = [left, right];
      if (nodes[at][0] === test) {
        children = goesLeft(nodes[at], end - 1) ? [left, left] : [right, right];
      }
      const [a, b] = children.map(boundsOf);
      found.set(at, { low: least(a.low, b.low), high: largest(a.high, b.high) });
    }
    return { end, ...found.get(top) };
  });
}

// Where the codes of each test start, one test after another.
const CODE_START = [0];
for (const nLevels of N_LEVELS) CODE_START.push(CODE_START.at(-1) + nLevels + 2);

// Sums for each outcome of each test; what has ended stands behind them.
function outcomeSums(one) {
  const nCodes = CODE_START.at(-1);
  const zeros = new Array(nCodes + 2).fill(0);
  const lows = START.map(() => new Sums(zeros));
  const highs = START.map(() => new Sums(zeros));
  START.forEach((value, q) => {
    lows[q].add(nCodes + 1, value, 1);
    highs[q].add(nCodes + 1, value, 1);
  });
  one.parts.forEach((part, tree) => {
    const test = TREES[tree][part.top][0];
    let runs = [{ end: 1, low: part.low, high: part.high }];
    if (test >= 0 && !one.runs[tree]) {
      const live = part.live || listOpen(TREES[tree], part.top, one.codes);
      one.runs[tree] = bound(tree, part.top, live);
    }
    if (test >= 0) runs = one.runs[tree];
    let begin = 0;
    for (const { end, low, high } of runs) {
      low.forEach((value, i) => {
        const q = OUTPUT[tree] + i;
        if (test < 0) {
          lows[q].add(nCodes + 1, value, 1);
          highs[q].add(nCodes + 1, high[i], 1);
          return;
        }
        // Noted where a run begins and ends; added up over the codes below.
        lows[q].add(CODE_START[test] + begin, value, 1);
        lows[q].add(CODE_START[test] + end, value, -1);
        highs[q].add(CODE_START[test] + begin, high[i], 1);
        highs[q].add(CODE_START[test] + end, high[i], -1);
      });
      begin = end;
    }
  });
  for (const sums of [...lows, ...highs]) {
    for (let code = 1; code < nCodes; code += 1) {
      sums.high[code] += sums.high[code - 1];
      sums.low[code] += sums.low[code - 1];
    }
  }
  return { lows, highs };
}

// The least that a sum can come to, less another one, in two parts.
function leastLead(ours, theirs) {
  const ended = CODE_START.at(-1) + 1;
  let high = ours.high[ended] - theirs.high[ended];
  let low = ours.low[ended] - theirs.low[ended];
  for (let test = 0; test < TESTS.length; test += 1) {
    let best = CODE_START[test];
    const differ = (a, b) =>
      (ours.high[a] - theirs.high[a] - ours.high[b] + theirs.high[b]) * PART
      + (ours.low[a] - theirs.low[a] - ours.low[b] + theirs.low[b]);
    for (let code = best + 1; code < CODE_START[test + 1]; code += 1) {
      if (differ(code, best) < 0) best = code;
    }
    high += ours.high[best] - theirs.high[best];
    low += ours.low[best] - theirs.low[best];
  }
  return { high, low };
}

// Whether something in two parts is more than what rounding may do.
function isSafe({ high, low }) {
  return (high - SLACKS.high[0]) * PART + (low - SLACKS.low[0]) > 0;
}

// How far a class is ahead of each other one at least: trees that wait for the same
// test agree on what it will show.
function leastLeads({ lows, highs }, first) {
  if (TARGET !== "two classes") {
    return START.map((_, q) => (q === first ? null : leastLead(lows[first], highs[q])));
  }
  const none = new Sums(new Array(CODE_START.at(-1) + 2).fill(0));
  return [first ? leastLead(lows[0], none) : leastLead(none, highs[0])];
}
"""

JOINT = """
// Whether no outcome of what is open can change who leads.
function holdsJointly(one, first) {
  if (!isNear(one, first)) return false;
  const leads = leastLeads(outcomeSums(one), first);
  return leads.every((lead) => lead === null || isSafe(lead));
}

// Whether the lead is a good part of what other bounds leave open.
function isNear({ total, low, high }, first) {
  if (TARGET === "two classes") {
    const open = first ? total.ahead(0, low, 0) : high.ahead(0, total, 0);
    return (first ? total.at(0) : -total.at(0)) >= 0.35 * open;
  }
  return START.every((_, q) => q === first || total.ahead(first, total, q)
    >= 0.35 * (total.ahead(first, low, first) + high.ahead(q, total, q)));
}
"""

LEAVES = """
// Whether a class is ahead of all others, by the leaves that are left. It then leads by
// at least as much: what is expected looks at whole subtrees, and may say otherwise.
function holdsJointly(one) {
  const sums = outcomeSums(one);
  const { total } = one;
  for (let first = 0; first < CLASSES.length; first += 1) {
    const leads = leastLeads(sums, first);
    if (!leads.every((lead) => lead === null || isSafe(lead))) continue;
    if (TARGET === "two classes") {
      const sign = first ? 1 : -1;
      const lead = { high: sign * total.high[0], low: sign * total.low[0] };
      const [{ high, low }] = leads;
      if (!isSafe(lead)) one.lifted = [0, sign * (high * PART + low)];
      return true;
    }
    let { high, low } = { high: total.high[first], low: total.low[first] };
    leads.forEach((lead, q) => {
      const parts = { high: high - total.high[q], low: low - total.low[q] };
      if (lead === null || isSafe(parts)) return;
      high = total.high[q] + lead.high;
      low = total.low[q] + lead.low;
    });
    one.lifted = [first, high * PART + low];
    return true;
  }
  return false;
}
"""

CASE = """
// What each tree amounts to when nothing is known, and the trees that ask each test.
const FIRST = TREES.map((_, tree) => measure(tree, new Map()));
const USERS = TESTS.map(() => new Set());
TREES.forEach((nodes, tree) => nodes.forEach(([test]) => {
  if (test >= 0) USERS[test].add(tree);
}));

// One case, step by step. `test` is what to ask next, null once nothing more is needed;
// `price` what that would charge now; `spent` and `asked` what was bought so far;
// `decision`, `probabilities` and `sums` what it would come to.
class Case {
  constructor() {
    this.asked = [];
    this.spent = 0;
    this.codes = new Map();
    this.closed = new Set();
    this.paid = new Set();
    this.isOpen = new Set();
    this.parts = FIRST.slice();
    this.runs = [];
    this.lifted = null;
    this.total = new Sums(START);
    this.low = new Sums(START);
    this.high = new Sums(START);
    this.spread = new Sums(new Array(N_KINDS).fill(0));
    this.need = Array.from({ length: N_KINDS }, () => new Array(TESTS.length).fill(0));
    this.nWaiting = 0;
    TREES.forEach((_, tree) => this.add(tree, 1));
    this.look();
  }

  // Note what the next test has shown.
  answer(outcome) {
    const test = this.next;
    const code = codeOf(test, outcome);
    this.asked.push(TESTS[test]);
    this.spent += this.charge(test, code);
    const trees = [...USERS[test]].filter((tree) => this.parts[tree].need.has(test));
    for (const tree of trees) this.add(tree, -1);
    this.codes.set(test, code);
    this.closed.add(test);
    for (const tree of trees) {
      this.parts[tree] = measure(tree, this.codes);
      this.add(tree, 1);
    }
    for (const tree of IS_DEEP ? trees : USERS[test]) this.runs[tree] = null;
    this.look();
  }

  // Go on without the next test; `paid` if it was run and showed nothing.
  skip(paid = false) {
    if (paid) this.spent += this.charge(this.next, -1);
    this.closed.add(this.next);
    this.look();
  }

  get test() {
    return this.next === null ? null : TESTS[this.next];
  }

  get price() {
    if (this.next === null) return null;
    const before = [new Set(this.paid), new Set(this.isOpen)];
    const price = this.charge(this.next, -1);
    [this.paid, this.isOpen] = before;
    return price;
  }

  get sums() {
    if (this.nWaiting === 0) return addUp(this.parts.map((part) => part.top));
    const sums = START.map((_, q) => this.total.at(q) / UNIT);
    if (this.lifted !== null) sums[this.lifted[0]] = this.lifted[1] / UNIT;
    return sums;
  }

  get decision() {
    return decideBy(this.sums);
  }

  // By class, in the order of CLASSES.
  get probabilities() {
    return CLASSES.length > 0 ? sharesOf(this.sums) : null;
  }

  // Add what a tree amounts to, or take it back.
  add(tree, sign) {
    const part = this.parts[tree];
    const first = OUTPUT[tree];
    const kind = N_KINDS > 1 ? first : 0;
    part.mean.forEach((value, q) => {
      this.total.add(first + q, value, sign);
      this.low.add(first + q, part.low[q], sign);
      this.high.add(first + q, part.high[q], sign);
    });
    this.spread.add(kind, part.spread, sign);
    for (const [test, amount] of part.need) this.need[kind][test] += sign * amount;
    if (part.need.size > 0) this.nWaiting += sign;
  }

  // See who leads, whether that can change, and what to buy next.
  look() {
    this.next = null;
    this.lifted = null;
    if (this.nWaiting === 0) return;
    const { total, low, high } = this;
    let first = total.at(0) > 0 ? 1 : 0;
    let lead = 1;
    let kinds = [0];
    let isSettled = false;
    if (TARGET === "number") {
      const wide = new Sums([TOLERANCE]);
      const part = high.high[0] - low.high[0] - wide.high[0];
      isSettled = part * PART + (high.low[0] - low.low[0] - wide.low[0]) <= 0;
    } else if (TARGET === "two classes") {
      const zero = new Sums([0]);
      isSettled = margin(low, 0, zero, 0) > 0 || margin(zero, 0, high, 0) > 0;
      lead = Math.abs(total.at(0)) / UNIT;
    } else {
      const voted = bestOf(IS_VOTE ? low : total, -1);
      isSettled = START.every((_, q) => q === voted || this.holds(voted, q));
      first = bestOf(total, -1);
      const second = START.length > 1 ? bestOf(total, first) : first;
      lead = total.ahead(first, total, second) / UNIT;
      if (N_KINDS > 1) kinds = [first, second];
    }
    if (IS_JOINT && !isSettled) isSettled = holdsJointly(this, first);
    const parts = kinds.map((kind) => [this.spread.high[kind], this.spread.low[kind]]);
    const open = parts.reduce((sum, [part]) => sum + part, 0) * PART
      + parts.reduce((sum, [, part]) => sum + part, 0);
    const awaited = kinds.flatMap((kind) => this.need[kind]).reduce((a, b) => a + b, 0);
    const deviation = VARIES_TOGETHER
      ? awaited / SCORE_UNIT : Math.sqrt(open / SPREAD_UNIT);
    const z = deviation > 0 ? lead / deviation : Infinity;
    const isSure = THRESHOLD < Infinity && z >= THRESHOLD;
    if (isSure || (isSettled && !IS_COMPLETE)) return;
    const chosen = this.choose(kinds);
    const isKept = chosen !== null && this.spent + this.most(chosen) <= MAX_COST;
    if (isKept) this.next = chosen;
  }

  // The most that a test can charge now, whatever it shows.
  most(test) {
    if (DELAYED[test] && !this.paid.has(test)) {
      const kept = [new Set(this.paid), new Set(this.isOpen)];
      const amount = this.charge(test, -1);
      [this.paid, this.isOpen] = kept;
      return amount;
    }
    const priced = BY_OUTCOME[test].map((_, code) => this.priceOf(test, code));
    return Math.max(this.priceOf(test, -1), ...priced);
  }

  // Whether one class cannot be overtaken by another.
  holds(first, q) {
    const found = margin(this.low, first, this.high, q);
    return found > 0 || (found === 0 && IS_VOTE && first < q);
  }

  // The test that most waits for, for its price; null if nothing does.
  choose(kinds) {
    const scores = TESTS.map((_, test) => {
      let score = 0;
      this.need.forEach((need, kind) => {
        score += kinds.includes(kind) ? need[test] : 0.3 * need[test];
      });
      if (this.closed.has(test) || score <= 0) return 0;
      const price = this.priceOf(test, -1);
      const inverse = price > 0 ? 1 / Math.max(price, 1e-270) : Infinity;
      return score * (inverse * EAGERNESS[test]);
    });
    const best = Math.max(0, ...scores);
    return best > 0 ? scores.findIndex((score) => score * (1 + 1e-12) >= best) : null;
  }

  priceOf(test, code) {
    if (this.paid.has(test)) return 0;
    if (code >= 0 && code < BY_OUTCOME[test].length) return BY_OUTCOME[test][code];
    return this.isOpen.has(GROUP[test]) ? DISCOUNTED[test] : FULL[test];
  }

  // Charge for a test; a delayed one orders all that may still be asked.
  charge(test, code) {
    let ordered = [[test, code]];
    if (DELAYED[test] && !this.paid.has(test)) {
      ordered = TESTS.map((_, i) => [i, -1]).filter(([i]) => this.isWanted(i));
    }
    let amount = 0;
    for (const [i, shown] of ordered) {
      amount += this.priceOf(i, shown);
      this.paid.add(i);
      if (GROUP[i] >= 0) this.isOpen.add(GROUP[i]);
    }
    return amount;
  }

  isWanted(test) {
    if (this.closed.has(test)) return false;
    return !IS_DEEP || this.need.some((need) => need[test] > 0);
  }
}

// The largest sum but one that is left out; of equal ones the first.
function bestOf(sums, leftOut) {
  let best = leftOut === 0 ? 1 : 0;
  for (let q = best + 1; q < START.length; q += 1) {
    if (q !== leftOut && sums.ahead(q, sums, best) > 0) best = q;
  }
  return best;
}

function explain(given) {
  const ask = asking(given);
  const one = new Case();
  while (one.next !== null) one.answer(ask(one.test));
  const { decision, probabilities, asked, spent } = one;
  return { decision, probabilities, asked, spent };
}

function decide(given) {
  return explain(given).decision;
}

// What the full model says: its decision, probabilities and sums.
function full(given) {
  const ask = asking(given);
  const codes = new Map(TESTS.map((name, test) => [test, codeOf(test, ask(name))]));
  const sums = addUp(TREES.map((nodes) => descend(nodes, 0, codes)));
  const probabilities = CLASSES.length > 0 ? sharesOf(sums) : null;
  return { decision: decideBy(sums), probabilities, sums };
}
"""

SCRIPT_TAIL = """
if (typeof module !== "undefined") module.exports = { Case, decide, explain, full };
"""

MODULE_TAIL = """
export { Case, decide, explain, full };
"""
