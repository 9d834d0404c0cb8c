"""Measure and choose tests on tables with unknown outcomes.

Every rule scores a test from what it does to the state at hand: how many cases each
outcome would rule out, and how likely it is. One pass over a column of codes gives all
of it, so a decision costs the cases left times the tests, and memory is the codes.

This module knows arrays; it must not know names, nor what becomes of its choices.
"""

from cython.parallel cimport parallel, prange
from libc.math cimport exp2, log2, rint
from libc.stdlib cimport calloc, free

import numpy as np

from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t,
)


cdef extern from "askless/_core/unknown/counting.h" nogil:
    void count_few_codes(
        const uint8_t* column, const int32_t* cases, intp_t n,
        const float64_t* weight, int n_codes, int64_t* counts, float64_t* masses,
    )

# Noise is counted in parts of a bit: 2^40 of them.
cdef int64_t UNIT = <int64_t> 1 << 40
cdef float64_t UNITS = <float64_t> (<int64_t> 1 << 40)

# Scores closer than this, relatively, tie.
cdef float64_t TOLERANCE = 1e-12

# Codes below this are counted by a loop without a table of codes that were met.
cdef intp_t FEW = 8


cdef float64_t power_of_half(int64_t noise) noexcept nogil:
    return exp2(-(<float64_t> noise) / UNITS)


cdef inline float64_t plogp(float64_t p) noexcept nogil:
    return p * log2(p) if p > 0 else 0.0


cdef int open_scratch(Scratch* scratch, intp_t most_codes) except -1 nogil:
    scratch.parts = <Part*> calloc(most_codes + 1, sizeof(Part))
    scratch.run = <Part*> calloc(most_codes + 1, sizeof(Part))
    scratch.met = <int32_t*> calloc(most_codes + 1, sizeof(int32_t))
    scratch.run_met = <int32_t*> calloc(most_codes + 1, sizeof(int32_t))
    if (
        scratch.parts == NULL or scratch.run == NULL
        or scratch.met == NULL or scratch.run_met == NULL
    ):
        close_scratch(scratch)
        with gil:
            raise MemoryError("no memory left to measure tests")
    return 0


cdef void close_scratch(Scratch* scratch) noexcept nogil:
    free(scratch.parts)
    free(scratch.run)
    free(scratch.met)
    free(scratch.run_met)


cdef inline intp_t add_case(
    Part* parts, int32_t* met, intp_t n_met, intp_t code, float64_t weight,
    float64_t extra,
) noexcept nogil:
    """Add a case to the part of its code; return how many codes have been met."""
    if parts[code].count == 0:
        met[n_met] = <int32_t> code
        n_met += 1
    parts[code].count += 1
    parts[code].mass += weight
    parts[code].extra += extra
    return n_met


cdef class NoisyTable:
    """A table with unknown outcomes, as the rules and the search want it.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_tests, n_cases)
        Not copied.
    n_levels : ndarray of int32 of shape (n_tests,)
    chances : ndarray
        The chance of each level of each test where the outcome is unknown.
    chance_start : ndarray of int64 of shape (n_tests + 1,)
    label : ndarray of int32 of shape (n_cases,)
        What is to be found out about each case.
    prior : ndarray of shape (n_cases,)
    """

    def __init__(
        self,
        codes not None,
        const int32_t[::1] n_levels not None,
        const float64_t[::1] chances not None,
        const int64_t[::1] chance_start not None,
        const int32_t[::1] label not None,
        const float64_t[::1] prior not None,
    ):
        cdef:
            const uint8_t[:, ::1] narrow
            const uint16_t[:, ::1] wide
            intp_t test, level
            float64_t c, bits
        self.codes_owner = codes
        if codes.dtype == np.uint16:
            wide = codes
            self.wide = &wide[0, 0]
        else:
            narrow = codes
            self.narrow = &narrow[0, 0]
        self.n_tests = codes.shape[0]
        self.n_cases = codes.shape[1]
        self.n_levels = n_levels
        self.chances = chances
        self.chance_start = chance_start
        self.label = label
        self.prior = prior
        self.n_labels = np.max(label) + 1
        self.has_single_labels = len(np.unique(label)) == self.n_cases
        self.is_in_order = bool(np.all(np.diff(label) >= 0))
        self.most_codes = max(np.max(n_levels) + 2, FEW)
        self.bits = np.full(chances.shape[0], -1, dtype=np.int64)
        self.n_support = np.zeros(self.n_tests, dtype=np.int32)
        self.sums = np.zeros((self.n_tests, 3))
        self.has_whole_bits = True
        for test in range(self.n_tests):
            for level in range(n_levels[test]):
                c = chances[chance_start[test] + level]
                if c <= 0:
                    continue
                bits = rint(-log2(c) * UNITS)
                self.bits[chance_start[test] + level] = <int64_t> bits
                if self.bits[chance_start[test] + level] % UNIT != 0:
                    self.has_whole_bits = False
                self.n_support[test] += 1
                self.sums[test, 0] += c * c
                self.sums[test, 1] += c * c * c
                self.sums[test, 2] += plogp(c)

    cdef intp_t code(self, intp_t test, intp_t case) noexcept nogil:
        if self.wide != NULL:
            return self.wide[test * self.n_cases + case]
        return self.narrow[test * self.n_cases + case]

    cdef float64_t chance(self, intp_t test, intp_t code) noexcept nogil:
        if code >= self.n_levels[test]:
            return 0.0
        return self.chances[self.chance_start[test] + code]

    cdef void weigh(
        self, const int32_t* cases, const int64_t* noise, intp_t n, float64_t* weight
    ) noexcept nogil:
        cdef:
            intp_t i
            int64_t least = noise[0] if n else 0
        for i in range(1, n):
            least = min(least, noise[i])
        for i in range(n):
            weight[i] = self.prior[cases[i]]
            if noise[i] != least:
                weight[i] *= power_of_half(noise[i] - least)

    cdef intp_t list_part(
        self, intp_t test, intp_t code, const int32_t* cases, const int64_t* noise,
        intp_t n, int32_t* part, int64_t* part_noise,
    ) noexcept nogil:
        cdef:
            intp_t i, own, n_part = 0
            intp_t unknown = self.n_levels[test] + 1
            int64_t bits = -1
        if code < self.n_levels[test]:
            bits = self.bits[self.chance_start[test] + code]
        for i in range(n):
            own = self.code(test, cases[i])
            if own == code:
                part[n_part] = cases[i]
                part_noise[n_part] = noise[i]
                n_part += 1
            elif own == unknown and bits >= 0:
                part[n_part] = cases[i]
                part_noise[n_part] = noise[i] + bits
                n_part += 1
        return n_part

    cdef float64_t score(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weight,
        const float64_t* extra, int rule, Scratch* scratch, uint8_t* kind,
    ) noexcept nogil:
        cdef:
            intp_t i, j, code, n_met = 0, unknown = self.n_levels[test] + 1
            const uint8_t* narrow = self.narrow
            const uint16_t* wide = self.wide
            Part* parts = scratch.parts
            int64_t counts[8]
            float64_t masses[8]
            float64_t value = 0.0
        kind[0] = USELESS
        if self.n_support[test] == 0 and self.n_levels[test] == 0:
            return 0.0
        if wide != NULL:
            wide += test * self.n_cases
        else:
            narrow += test * self.n_cases
        if wide == NULL and unknown < FEW and extra == NULL and rule != EC2:
            count_few_codes(
                narrow, NULL if n == self.n_cases and self.is_in_order else cases,
                n, weight, <int> unknown + 1, counts, masses,
            )
            for code in range(unknown + 1):
                if counts[code]:
                    parts[code].count = counts[code]
                    parts[code].mass = masses[code]
                    scratch.met[n_met] = <int32_t> code
                    n_met += 1
        else:
            for i in range(n):
                code = wide[cases[i]] if wide != NULL else narrow[cases[i]]
                n_met = add_case(
                    parts, scratch.met, n_met, code, weight[i],
                    extra[i] if extra != NULL else weight[i] * weight[i],
                )
        if self.has_single_labels:
            value = self.score_cases(test, n, rule, scratch, n_met, kind)
        else:
            value = self.score_labels(
                test, cases, n, weight, rule, scratch, n_met, kind
            )
        for j in range(n_met):
            code = scratch.met[j]
            parts[code].count = 0
            parts[code].mass = 0.0
            parts[code].extra = 0.0
        return value

    cdef bint may_rule_out(
        self, intp_t test, int64_t known, const Part* parts
    ) noexcept nogil:
        """Return whether the outcome of an unknown case may rule out a known one."""
        cdef intp_t level
        if known == 0:
            return False
        if self.n_support[test] > 1:
            return True
        for level in range(self.n_levels[test]):
            if self.chances[self.chance_start[test] + level] > 0:
                return parts[level].count < known
        return False

    cdef float64_t balance(
        self, intp_t test, int rule, const Scratch* scratch, intp_t n_met
    ) noexcept nogil:
        """Return the weight of all but the largest part, by cases or by copies.

        Of equally large parts the one of the smallest code counts as the largest.
        """
        cdef:
            intp_t j, code, largest = -1, unknown = self.n_levels[test] + 1
            const Part* parts = scratch.parts
            float64_t size, most = -1.0, known = 0.0, share = 0.0
            bint by_copies = rule == ODTN_H or rule == ODTN_H_RELEASED
        if rule == ODTN_H and self.n_support[test] > 0:
            share = parts[unknown].extra / self.n_support[test]
        for j in range(n_met):
            code = scratch.met[j]
            if code == unknown:
                continue
            known += parts[code].mass
            size = parts[code].extra if by_copies else <float64_t> parts[code].count
            if self.chance(test, code) > 0:
                size += share
            if size > most or (size == most and code < largest):
                most = size
                largest = code
        if rule == ODTN_H and share >= most:
            # A level that only unknown outcomes show may be the largest part.
            for code in range(self.n_levels[test]):
                if self.chance(test, code) <= 0 or parts[code].count > 0:
                    continue
                if share > most or (share == most and code < largest):
                    most = share
                    largest = code
        if largest < 0:
            return 0.0
        if rule == ODTN_H:
            return known + parts[unknown].mass - (
                parts[largest].mass
                + self.chance(test, largest) * parts[unknown].mass
            )
        return known - parts[largest].mass

    cdef float64_t score_cases(
        self, intp_t test, intp_t n, int rule, Scratch* scratch, intp_t n_met,
        uint8_t* kind,
    ) noexcept nogil:
        """Score a test where every case has a label of its own."""
        cdef:
            intp_t j, code, unknown = self.n_levels[test] + 1
            const Part* parts = scratch.parts
            int64_t stars = parts[unknown].count, known = n - stars, gone
            float64_t star_mass = parts[unknown].mass, total = star_mass
            float64_t c, m, gain = 0.0, expected_gone = <float64_t> known
            float64_t left = 0.0, logs = 0.0, squares = 0.0
            float64_t seen1 = 0.0, seen2 = 0.0, seen3 = 0.0, seen_log = 0.0
        for j in range(n_met):
            code = scratch.met[j]
            if code == unknown:
                continue
            c = self.chance(test, code)
            gone = n - parts[code].count - (stars if c > 0 else 0)
            if gone > 0:
                kind[0] = TWO_SIDED
            gain += parts[code].mass * gone
            expected_gone -= c * parts[code].count
            total += parts[code].mass
        if kind[0] == USELESS and stars > 0 and self.may_rule_out(test, known, parts):
            kind[0] = ONE_SIDED
        if rule <= ELIMINATION:
            return self.score_by_gain(
                test, rule, scratch, n_met, gain / (n - 1),
                star_mass * expected_gone / (n - 1),
            )
        if total <= 0:
            return 0.0
        for j in range(n_met):
            code = scratch.met[j]
            if code == unknown:
                continue
            c = self.chance(test, code)
            m = parts[code].mass + c * star_mass
            logs += plogp(m / total)
            left += m * m
            squares += parts[code].extra
            if rule == EC2:
                seen1 += m * (
                    m * m - parts[code].extra - c * c * parts[unknown].extra
                ) / 2
            seen2 += c * c
            seen3 += c * c * c
            seen_log += plogp(c)
        if rule == INFORMATION:
            # Levels that only unknown outcomes show, and what coins add by themselves.
            m = 1.0
            for j in range(n_met):
                if scratch.met[j] != unknown:
                    m -= self.chance(test, scratch.met[j])
            logs += self.coin_logs(
                star_mass / total, self.sums[test, 2] - seen_log, m
            )
            return -logs + star_mass / total * self.sums[test, 2]
        if rule == GBS:
            left += star_mass * star_mass * max(0.0, self.sums[test, 0] - seen2)
            return total - left / total
        squares += parts[unknown].extra
        seen1 += max(0.0, self.sums[test, 1] - seen3) * star_mass * (
            star_mass * star_mass - parts[unknown].extra
        ) / 2
        return (total * total - squares) / 2 - seen1 / total

    cdef float64_t coin_logs(
        self, float64_t mass, float64_t logs, float64_t chance
    ) noexcept nogil:
        """Return the sum of p log p over levels of which only coins come.

        `logs` is the sum of c log c of these levels, `chance` that of c.
        """
        if mass <= 0 or chance <= 1e-15:
            return 0.0
        return mass * (logs + chance * log2(mass))

    cdef float64_t score_by_gain(
        self, intp_t test, int rule, const Scratch* scratch, intp_t n_met,
        float64_t known_gain, float64_t star_gain,
    ) noexcept nogil:
        cdef:
            float64_t star_mass = scratch.parts[self.n_levels[test] + 1].mass
            float64_t score = known_gain
        if rule == ODTN_R_RELEASED or rule == ODTN_H_RELEASED:
            score += star_mass / 2 - star_gain
        else:
            score += star_gain
        if rule != ELIMINATION:
            score += self.balance(test, rule, scratch, n_met)
        return score

    cdef float64_t score_labels(
        self, intp_t test, const int32_t* cases, intp_t n, const float64_t* weight,
        int rule, Scratch* scratch, intp_t n_met, uint8_t* kind,
    ) noexcept nogil:
        """Score a test where labels have several cases, which stand together."""
        cdef:
            intp_t i = 0, j, code, n_run, end, unknown = self.n_levels[test] + 1
            Part* parts = scratch.parts
            Part* run = scratch.run
            int64_t stars = parts[unknown].count, known = n - stars, size, gone
            float64_t star_mass = parts[unknown].mass, total = star_mass
            float64_t c, m, known_gain = 0.0, star_gain = 0.0, run_gain, run_star
            float64_t expected_gone = <float64_t> known, run_expected
            float64_t star_squares = 0.0, squares = 0.0, whole, joint = 0.0
            float64_t seen, seen_log, seen2 = 0.0, seen3 = 0.0, left = 0.0, logs = 0.0
        for j in range(n_met):
            code = scratch.met[j]
            parts[code].extra = parts[code].extra if rule == ODTN_H else (
                parts[code].extra if rule == ODTN_H_RELEASED else 0.0
            )
            if code != unknown:
                expected_gone -= self.chance(test, code) * parts[code].count
                total += parts[code].mass
        while i < n:
            # A run of cases of one label.
            end = i
            n_run = 0
            while end < n and self.label[cases[end]] == self.label[cases[i]]:
                n_run = add_case(
                    run, scratch.run_met, n_run, self.code(test, cases[end]),
                    weight[end], 0.0,
                )
                end += 1
            size = end - i
            run_gain = 0.0
            run_expected = <float64_t> (size - run[unknown].count)
            whole = run[unknown].mass
            seen = 1.0
            seen_log = self.sums[test, 2]
            for j in range(n_run):
                code = scratch.run_met[j]
                if code == unknown:
                    continue
                c = self.chance(test, code)
                # Cases of other labels that the outcome would rule out.
                gone = (n - parts[code].count - (stars if c > 0 else 0)) - (
                    size - run[code].count - (run[unknown].count if c > 0 else 0)
                )
                if gone > 0:
                    kind[0] = TWO_SIDED
                run_gain += run[code].mass * gone
                run_expected -= c * run[code].count
                whole += run[code].mass
                m = run[code].mass + c * run[unknown].mass
                if rule == EC2:
                    parts[code].extra += m * m - (
                        c * c * run[unknown].mass * run[unknown].mass
                    )
                elif rule == INFORMATION:
                    joint += plogp(m / total) if total > 0 else 0.0
                    seen -= c
                    seen_log -= plogp(c)
            run_star = run[unknown].mass
            if n > size:
                known_gain += run_gain / (n - size)
                star_gain += run_star * (expected_gone - run_expected) / (n - size)
            star_squares += run_star * run_star
            squares += whole * whole
            if rule == INFORMATION and total > 0:
                joint += self.coin_logs(run_star / total, seen_log, seen)
                joint -= plogp(whole / total)
            for j in range(n_run):
                code = scratch.run_met[j]
                run[code].count = 0
                run[code].mass = 0.0
                run[code].extra = 0.0
            i = end
        if kind[0] == USELESS:
            # Not sure to tell labels apart; it may rule out a case all the same.
            for j in range(n_met):
                code = scratch.met[j]
                c = self.chance(test, code)
                if code != unknown and (
                    n - parts[code].count - (stars if c > 0 else 0) > 0
                ):
                    kind[0] = ONE_SIDED
            if stars > 0 and self.may_rule_out(test, known, parts):
                kind[0] = ONE_SIDED
        if rule <= ELIMINATION:
            return self.score_by_gain(
                test, rule, scratch, n_met, known_gain, star_gain
            )
        if total <= 0:
            return 0.0
        seen = 1.0
        seen_log = self.sums[test, 2]
        run_gain = 0.0
        for j in range(n_met):
            code = scratch.met[j]
            if code == unknown:
                continue
            c = self.chance(test, code)
            m = parts[code].mass + c * star_mass
            logs += plogp(m / total)
            left += m * m
            if rule == EC2:
                run_gain += m * (
                    m * m - parts[code].extra - c * c * star_squares
                ) / 2
            seen -= c
            seen_log -= plogp(c)
            seen2 += c * c
            seen3 += c * c * c
        if rule == INFORMATION:
            logs += self.coin_logs(star_mass / total, seen_log, seen)
            return joint - logs
        if rule == GBS:
            left += star_mass * star_mass * max(0.0, self.sums[test, 0] - seen2)
            return total - left / total
        run_gain += max(0.0, self.sums[test, 1] - seen3) * star_mass * (
            star_mass * star_mass - star_squares
        ) / 2
        return (total * total - squares) / 2 - run_gain / total

    # For callers in Python.

    def score_tests(
        self,
        const int32_t[::1] cases not None,
        const float64_t[::1] weight not None,
        int rule,
        const float64_t[::1] copies=None,
        int n_threads=1,
    ):
        """Return (scores, kinds): what a rule gives each test in a state."""
        cdef:
            float64_t[::1] scores = np.zeros(self.n_tests)
            uint8_t[::1] kinds = np.zeros(self.n_tests, dtype=np.uint8)
            const float64_t* extra = NULL if copies is None else &copies[0]
            intp_t test, n = cases.shape[0], most = self.most_codes
            Scratch* scratch
        with nogil, parallel(num_threads=n_threads):
            scratch = <Scratch*> calloc(1, sizeof(Scratch))
            open_scratch(scratch, most)
            for test in prange(self.n_tests, schedule="dynamic"):
                scores[test] = self.score(
                    test, &cases[0], n, &weight[0], extra, rule, scratch, &kinds[test]
                )
            close_scratch(scratch)
            free(scratch)
        return np.asarray(scores), np.asarray(kinds)

    def weigh_cases(
        self, const int32_t[::1] cases not None, const int64_t[::1] noise not None
    ):
        """Return the weights of the cases of a state, up to a common factor."""
        weight = np.empty(cases.shape[0])
        cdef float64_t[::1] view = weight
        if cases.shape[0]:
            self.weigh(&cases[0], &noise[0], cases.shape[0], &view[0])
        return weight

    def advance(
        self,
        const int32_t[::1] cases not None,
        const int64_t[::1] noise not None,
        intp_t test,
        intp_t code,
    ):
        """Return (cases, noise) of the state after a test has shown a code."""
        cdef:
            intp_t n = cases.shape[0], n_part
            int32_t[::1] part = np.empty(n + 1, dtype=np.int32)
            int64_t[::1] part_noise = np.empty(n + 1, dtype=np.int64)
        n_part = self.list_part(
            test, code, &cases[0], &noise[0], n, &part[0], &part_noise[0]
        )
        return np.asarray(part)[:n_part].copy(), np.asarray(part_noise)[:n_part].copy()


cdef intp_t choose_best(
    const float64_t* scores, const float64_t* prices, const uint8_t* kinds,
    const uint8_t* is_done, intp_t n_tests,
) noexcept nogil:
    """Return the test of the largest score for its price, the first on a tie.

    Free tests come first, by score. If nothing scores, the first test that is sure to
    tell something; -1 if no test is.
    """
    cdef:
        intp_t test, best = -1, first = -1
        float64_t value, most = 0.0
        bint is_free, best_is_free = False
    for test in range(n_tests):
        if kinds[test] == TWO_SIDED and first < 0:
            first = test
        if kinds[test] == USELESS or is_done[test] or scores[test] <= 0:
            continue
        is_free = prices[test] <= 0
        value = scores[test] if is_free else scores[test] / prices[test]
        if is_free != best_is_free:
            if best_is_free:
                continue
        elif value <= most * (1 + TOLERANCE):
            continue
        best = test
        most = value
        best_is_free = is_free
    if first < 0:
        return -1
    return best if best >= 0 else first


def choose_test(
    const float64_t[::1] scores not None,
    const float64_t[::1] prices not None,
    const uint8_t[::1] kinds not None,
    const uint8_t[::1] is_done not None,
):
    """Return the test that a rule takes, -1 if it decides; see ``choose_best``."""
    return choose_best(
        &scores[0], &prices[0], &kinds[0], &is_done[0], scores.shape[0]
    )
