"""Grow a tree by DecTree: a backbone of tests, then the same for all that leaves it.

The backbone is another module's business. This one turns chains into nodes in preorder,
without recursion, and must not know how a chain was found.
"""

from libc.stdlib cimport free, qsort
from libc.string cimport memcpy, memset

import numpy as np

from askless._core.chain._backbone cimport Backbone, Step
from askless._core.chain._coverage cimport compare_ints
from askless._core.tree._store cimport TreeBuffer
from askless._core.base._arrays cimport extend_array
from askless._core.base._types cimport float64_t, int32_t, intp_t, uint8_t


cdef struct Pending:
    intp_t start          # the rows [start, end[
    intp_t end
    intp_t parent
    intp_t parent_branch
    intp_t n_tests        # the tests that may split the rows are the first of the list
    intp_t call           # the call that left this behind; -1: none
    intp_t step           # the step of a chain that comes next; -1: a call
    intp_t n_steps        # steps of all chains that are not finished


cdef struct CallRecord:
    float64_t node
    float64_t parent      # the call that made it; -1: none
    float64_t n_cases
    float64_t pairs
    float64_t budget
    float64_t spent_on_weight
    float64_t spent_on_pairs


RECORD_FIELDS = (
    "node", "parent", "n_cases", "pairs", "budget", "spent_on_weight", "spent_on_pairs",
)


cdef class DecTreeGrower:
    """One growth: what is pending, and the tree so far.

    Chains wait in `steps`, the innermost last. A pending item knows how many steps
    there were when it was made; all later ones are finished when it is its turn.
    """

    cdef Backbone backbone
    cdef TreeBuffer tree
    cdef bint needs_used              # whether tests that split nothing matter
    cdef int32_t[::1] tests           # (n_tests,) shared; a call permutes its prefix
    cdef uint8_t[::1] is_used         # (n_tests,)
    cdef float64_t[::1] class_weight    # (n_classes,)
    cdef uint8_t[::1] is_met          # (n_classes,)
    cdef int32_t[::1] classes_met     # (n_classes,)
    cdef int32_t[::1] child_start     # (n_codes + 1,)
    cdef int32_t[::1] child_end

    cdef Pending* stack
    cdef intp_t n_pending
    cdef intp_t stack_room
    cdef Step* steps
    cdef intp_t n_steps
    cdef intp_t step_room
    cdef CallRecord* records
    cdef intp_t n_records
    cdef intp_t record_room

    def __dealloc__(self):
        free(self.stack)
        free(self.steps)
        free(self.records)

    cdef int push(self, Pending item) except -1 nogil:
        extend_array(
            <void**> &self.stack, &self.stack_room, self.n_pending + 1, sizeof(Pending)
        )
        self.stack[self.n_pending] = item
        self.n_pending += 1
        return 0

    cdef int grow(self) except -1 nogil:
        """Grow until nothing is pending, depth first, children in order of code."""
        cdef Pending item
        while self.n_pending > 0:
            self.n_pending -= 1
            item = self.stack[self.n_pending]
            self.n_steps = item.n_steps
            if item.step < 0:
                self.start_call(&item)
            else:
                self.add_step(&item)
        return 0

    cdef int start_call(self, Pending* item) except -1 nogil:
        """Build a chain and add its first test, or add a leaf."""
        cdef:
            Step* first
            Step* step
            intp_t i
            # The classes of a call's rows ascend.
            int32_t low = self.backbone.class_of[item.start]
            int32_t high = self.backbone.class_of[item.end - 1]
        if low < high:
            if self.needs_used:
                self.mark_used(item.parent)
            self.backbone.build(
                item.start, item.end - item.start, &self.tests[0], &item.n_tests,
                &self.is_used[0] if self.needs_used else NULL,
            )
        if low == high or self.backbone.n_steps == 0:
            self.tree.add_node(item.parent, item.parent_branch)
            self.record_weights(item.start, item.end)
            return 0
        self.record_call(item)
        item.call = self.n_records - 1
        item.step = self.n_steps
        extend_array(
            <void**> &self.steps, &self.step_room,
            self.n_steps + self.backbone.n_steps, sizeof(Step),
        )
        first = self.steps + self.n_steps
        for i in range(self.backbone.n_steps):
            step = first + i
            step[0] = self.backbone.steps[i]
            step.start += item.start
            step.after += item.start
        self.n_steps += self.backbone.n_steps
        item.n_steps = self.n_steps
        self.add_step(item)
        return 0

    cdef void mark_used(self, intp_t node) noexcept nogil:
        """Mark the tests on the way down to a child of the node."""
        memset(&self.is_used[0], 0, self.backbone.n_tests)
        while node >= 0:
            self.is_used[self.tree.test[node]] = 1
            node = self.tree.parent[node]

    cdef int record_call(self, const Pending* item) except -1 nogil:
        cdef CallRecord* call
        extend_array(
            <void**> &self.records, &self.record_room, self.n_records + 1,
            sizeof(CallRecord),
        )
        call = self.records + self.n_records
        call.node = <float64_t> self.tree.n_nodes
        call.parent = <float64_t> item.call
        call.n_cases = <float64_t> (item.end - item.start)
        call.pairs = self.backbone.pairs
        call.budget = self.backbone.budget
        call.spent_on_weight = self.backbone.spent_on_weight
        call.spent_on_pairs = self.backbone.spent_on_pairs
        self.n_records += 1
        return 0

    cdef int add_step(self, Pending* item) except -1 nogil:
        """Add the node of one test of a chain; make its children pending."""
        cdef:
            Step step = self.steps[item.step]
            intp_t node = self.tree.add_node(item.parent, item.parent_branch)
            intp_t n_children, i, code
            Pending child
        self.record_weights(item.start, item.end)
        self.tree.test[node] = <int32_t> step.test
        n_children = self.list_children(&step, item.end)
        for i in range(n_children):
            self.tree.add_branch(self.backbone.code(step.test, self.child_start[i]))
        self.tree.default_branch[node] = <int32_t> self.find_heaviest(n_children)
        child = item[0]
        child.parent = node
        for i in range(n_children - 1, -1, -1):
            child.start = self.child_start[i]
            child.end = self.child_end[i]
            child.parent_branch = i
            code = self.backbone.code(step.test, child.start)
            child.step = -1
            if code == step.main_code and item.step + 1 < item.n_steps:
                child.step = item.step + 1
            self.push(child)
        return 0

    cdef intp_t list_children(self, const Step* step, intp_t end) noexcept nogil:
        """List the rows of each child in the order of their codes."""
        cdef:
            intp_t n = 0, start = step.start, place
            bint is_main_left = step.after < end
        while start < step.after:
            if is_main_left and step.main_code < self.backbone.code(step.test, start):
                self.child_start[n] = <int32_t> step.after
                self.child_end[n] = <int32_t> end
                n += 1
                is_main_left = False
            place = start + 1
            while place < step.after and (
                self.backbone.code(step.test, place)
                == self.backbone.code(step.test, start)
            ):
                place += 1
            self.child_start[n] = <int32_t> start
            self.child_end[n] = <int32_t> place
            n += 1
            start = place
        if is_main_left:
            self.child_start[n] = <int32_t> step.after
            self.child_end[n] = <int32_t> end
            n += 1
        return n

    cdef intp_t find_heaviest(self, intp_t n_children) noexcept nogil:
        """Return the child with the most prior weight; on a tie, the first."""
        cdef:
            intp_t i, place, best = 0
            float64_t weight, most = -1.0
        for i in range(n_children):
            weight = 0.0
            for place in range(self.child_start[i], self.child_end[i]):
                weight += self.backbone.prior[place]
            if weight > most:
                most = weight
                best = i
        return best

    cdef int record_weights(self, intp_t start, intp_t end) except -1 nogil:
        """Add the prior weight of each class among the rows [start, end[ to the tree."""
        cdef:
            intp_t place, i, n = 0
            int32_t this_class
            bint is_sorted = True
        for place in range(start, end):
            this_class = self.backbone.class_of[place]
            if not self.is_met[this_class]:
                self.is_met[this_class] = 1
                is_sorted = is_sorted and (n == 0 or self.classes_met[n - 1] < this_class)
                self.classes_met[n] = this_class
                n += 1
            self.class_weight[this_class] += self.backbone.prior[place]
        if not is_sorted:
            qsort(&self.classes_met[0], n, sizeof(int32_t), compare_ints)
        for i in range(n):
            this_class = self.classes_met[i]
            self.tree.add_weight(this_class, self.class_weight[this_class])
            self.class_weight[this_class] = 0.0
            self.is_met[this_class] = 0
        return 0

    def list_records(self):
        """Return a column for each field of a call record."""
        cdef float64_t[:, ::1] cells = np.zeros((self.n_records + 1, len(RECORD_FIELDS)))
        memcpy(&cells[0, 0], self.records, self.n_records * sizeof(CallRecord))
        columns = np.asarray(cells)[: self.n_records].T
        return dict(zip(RECORD_FIELDS, columns, strict=True))


def grow_dectree(Backbone backbone not None):
    """Grow a tree on coded rows sorted by class; return its arrays and call records.

    The records are columns of numbers, a row for each call of DecTree that built a
    chain: its first ``node``, the call that was its ``parent``, ``n_cases``, ``pairs``,
    the ``budget`` (0 where a free test was taken) and what was ``spent_on_weight`` and
    ``spent_on_pairs``. The backbone is used up. Memory beyond it: a few numbers a node.
    """
    cdef:
        intp_t n_tests = backbone.n_tests
        intp_t n_classes = backbone.class_uncovered.shape[0]
        intp_t n_codes = backbone.run_rows.shape[0]
        DecTreeGrower grower = DecTreeGrower()
        Pending root
    grower.backbone = backbone
    grower.tree = TreeBuffer()
    grower.needs_used = not (backbone.is_guarded and backbone.keep_all)
    grower.tests = np.arange(n_tests, dtype=np.int32)
    grower.is_used = np.zeros(n_tests, dtype=np.uint8)
    grower.class_weight = np.zeros(n_classes)
    grower.is_met = np.zeros(n_classes, dtype=np.uint8)
    grower.classes_met = np.zeros(n_classes, dtype=np.int32)
    grower.child_start = np.zeros(n_codes + 1, dtype=np.int32)
    grower.child_end = np.zeros(n_codes + 1, dtype=np.int32)
    root.start = 0
    root.end = backbone.stride
    root.parent = root.parent_branch = root.call = root.step = -1
    root.n_tests = n_tests
    root.n_steps = 0
    grower.push(root)
    with nogil:
        grower.grow()
    return grower.tree.to_arrays(), grower.list_records()
