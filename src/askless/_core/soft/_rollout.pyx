"""Choose the split of a node: at once, or by looking ahead from every candidate.

The face of the look-ahead: arrays in, a split out. This module must not know how a tree
is kept, nor when to stop looking.
"""

from cython.parallel import prange, threadid
from libc.math cimport INFINITY
from libc.string cimport memcpy

import numpy as np

from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t, uint64_t
from askless._core.soft._look_ahead cimport LookAhead, Rollout
from askless._core.soft._candidates cimport Candidates
from askless._core.soft._rows cimport RowSet, RowSets, SoftRows, Split
from askless._core.soft._splits cimport DTMC, EG2, ROLLOUT, SEG2
from askless._core.cost._workspace cimport Workspace, child_key
from askless._core.price._prices cimport Path

cdef enum:
    # Times as many cuts of a number are tried by TWO_STEP where splits are screened.
    SCREENED_CUTS = 4


cdef class Rollouts:
    """The examples, prices and costs of a problem, ready to price splits.

    Parameters
    ----------
    workspace : Workspace
        The examples, what tests charge and what mistakes cost.
    leaf_cost : float
        What every leaf costs beside its mistakes.
    exponent : float
        How much prices matter to EG2.
    n_jobs : int
        Threads; no result depends on it.
    use_floors : bool
        Whether to stop where no tree can pay, or be the best one; no result depends on
        it.
    """

    cdef SoftRows examples
    cdef Rollout first       # of a chain, one a thread
    cdef Candidates candidates
    cdef int n_jobs

    def __init__(
        self,
        Workspace workspace not None,
        float64_t leaf_cost,
        float64_t exponent,
        int n_jobs=1,
        bint use_floors=True,
    ):
        self.examples = SoftRows(workspace, leaf_cost, use_floors)
        self.candidates = Candidates()
        self.n_jobs = max(1, n_jobs)
        self.first = None
        for _ in range(self.n_jobs):
            self.first = Rollout(
                self.examples, Path(workspace.prices), exponent, use_floors, self.first
            )

    def count_classes(self, const int32_t[::1] rows not None):
        """Return the weight of each class among some rows, and what a leaf costs."""
        cdef RowSet every
        self.first.sets.clear()
        every = self.first.sets.push(rows)
        self.first.check()
        return self.weights_of(&every), self.first.leaf_of(&every)

    cdef object weights_of(self, const RowSet* rows):
        """Return the class weights of a set."""
        cdef float64_t[::1] weights = np.empty(self.examples.n_classes)
        memcpy(
            &weights[0], self.first.sets.sums + rows.sums,
            self.examples.n_classes * sizeof(float64_t),
        )
        return np.asarray(weights)

    @property
    def least_to_split(self):
        """A leaf must cost more than this before a split can pay."""
        return 2 * self.examples.leaf.constant

    def divide_rows(
        self,
        const int32_t[::1] rows not None,
        intp_t test,
        intp_t cut,
        bint missing_right,
    ):
        """Divide rows by a split, each branch with its code, class weights and leaf.

        Returns
        -------
        codes, parts, weights, leaves : lists
            By branch; of a cut, 0 is the lower side and 1 the upper one.
        """
        cdef:
            RowSets sets = self.first.sets
            Split split = Split(
                <int32_t> test, <int32_t> cut, missing_right, 0.0, 0.0
            )
            RowSet every, branch
            intp_t first, n_branches, at
            int32_t[::1] part
        sets.clear()
        every = sets.push(rows)
        first = sets.divide(&every, &split, &n_branches)
        self.first.check()
        codes, parts, weights, leaves = [], [], [], []
        for at in range(n_branches):
            branch = sets.sets[first + at]
            part = np.empty(branch.n, dtype=np.int32)
            if branch.n:
                memcpy(&part[0], sets.rows + branch.start, branch.n * sizeof(int32_t))
            codes.append(at if cut >= 0 else sets.met[at])
            parts.append(np.asarray(part))
            weights.append(self.weights_of(&branch))
            leaves.append(self.first.leaf_of(&branch))
        return codes, parts, weights, leaves

    def price(
        self,
        const int32_t[::1] rows not None,
        const uint8_t[::1] paid not None,
        const uint8_t[::1] is_open not None,
        float64_t due,
        int criterion,
        uint64_t key=0,
    ):
        """Return the cost of the tree that a criterion grows on some rows, pruned."""
        cdef:
            RowSet every = self.first.enter(rows, paid, is_open, due)
            float64_t value
        with nogil:
            value = self.first.price_set(every, criterion, key, INFINITY)
        self.first.check()
        return value

    def choose(
        self,
        const int32_t[::1] rows not None,
        const uint8_t[::1] paid not None,
        const uint8_t[::1] is_open not None,
        float64_t due,
        int criterion,
        intp_t n_samples,
        intp_t n_cuts,
        uint64_t key,
        const int32_t[::1] stop not None,
        const int32_t[::1] screen=None,
        intp_t n_kept=0,
    ):
        """Choose the split of a node.

        Parameters
        ----------
        rows : int32 array
            The rows of the node, ascending.
        paid, is_open : uint8 arrays of shape (n_tests + 1,) and (n_groups + 1,)
            What has been paid for on the way here.
        due : float
            Below a delayed test, the weight of its node; 0 elsewhere.
        criterion : SoftCriterion
            EG2 and DTMC choose at once; TWO_STEP and ROLLOUT look ahead.
        n_samples : int
            How many random subtrees ROLLOUT grows beside those of EG2 and DTMC.
        n_cuts : int
            How many cuts of a number ROLLOUT tries. TWO_STEP tries all, or where splits
            are screened four times as many.
        key : int
            The source of random numbers.
        stop : int32 array of shape (1,)
            Not zero, perhaps set by another thread: give up.
        screen : int32 array, optional
            Some of the rows. All candidates are priced on these, and only the `n_kept`
            cheapest on all rows.
        n_kept : int
            See `screen`.

        Returns
        -------
        test, cut, missing_right, charge : int, int, bool, float
            A test of -1 stands for a leaf; -2 if it was stopped. A cut of -1 stands for
            a branch for every code. The charge is that of all rows.
        """
        cdef:
            RowSet every, some
            Split split
            float64_t leaf, weight, share
            LookAhead how = LookAhead(criterion, n_samples, key)
            const int32_t* flag = &stop[0]
        every = self.enter_all(rows, paid, is_open, due, flag)
        leaf = self.first.leaf_of(&every)
        if criterion in (EG2, DTMC, SEG2):
            with nogil:
                split = self.first.finder.pick(&every, criterion, key, leaf)
        else:
            if criterion != ROLLOUT:
                n_cuts = 0 if screen is None else SCREENED_CUTS * n_cuts
            self.candidates.list_splits(self.first.finder, &every, n_cuts, leaf)
            self.candidates.sort()
            if screen is not None and n_kept < self.candidates.n:
                weight = every.weight
                some = self.enter_all(screen, paid, is_open, 0.0, flag)
                share = some.weight / weight
                if due > 0:
                    some = self.enter_all(screen, paid, is_open, share * due, flag)
                self.price_candidates(some, how, INFINITY, share, flag)
                self.candidates.keep_cheapest(n_kept)
                every = self.enter_all(rows, paid, is_open, due, flag)
            self.price_candidates(every, how, leaf, 1.0, flag)
            if flag[0]:
                return -2, -1, False, 0.0
            split = self.candidates.cheapest(leaf)
        return split.test, split.cut, bool(split.missing_right), split.charge

    cdef RowSet enter_all(
        self, const int32_t[::1] rows, const uint8_t[::1] paid,
        const uint8_t[::1] is_open, float64_t due, const int32_t* stop,
    ) except *:
        """Stand on some rows, in every thread."""
        cdef:
            RowSet every
            Rollout at = self.first
        while at is not None:
            every = at.enter(rows, paid, is_open, due)
            at.stop = stop
            at = at.next
        self.first.check()
        return every

    cdef int price_candidates(
        self, RowSet every, LookAhead how, float64_t leaf, float64_t share,
        const int32_t* stop,
    ) except -1:
        """Price the candidates that are kept, the most promising first.

        On a share of the rows tests charge as much less; all prices are exact there, so
        that the ranks do not depend on who came first.
        """
        cdef:
            Candidates candidates = self.candidates
            float64_t* prices = candidates.prices
            intp_t i, c
            float64_t least = leaf
            Split split
            Rollout at = self.first
        for i in range(candidates.n):
            prices[i] = INFINITY
        with nogil:
            for i in prange(
                candidates.n_kept, schedule="dynamic", chunksize=1,
                num_threads=self.n_jobs,
            ):
                c = candidates.order[i]
                if not stop[0]:
                    # Another thread may lower the bound at any time: it can only save
                    # work on candidates that lose by more than a tie.
                    split = candidates.splits[c]
                    split.charge = share * split.charge
                    prices[c] = self.first.price_candidate_on(
                        threadid(), every, split, how, least
                    )
                    if share == 1.0 and prices[c] < least:
                        (&least)[0] = prices[c]
        while at is not None:
            at.check()
            at = at.next
        return 0


def key_of_child(uint64_t key, intp_t test, intp_t cut, intp_t branch):
    """Return the key of a branch of a node with a key."""
    return child_key(key, test, cut, branch)
