"""Contract of a workspace: examples as learners of least total cost count them.

Rows are numbers into columns of codes. A node is a range of `rows`, moved in place and
stably, so the order of a node's rows follows from the path to it alone. A row is a
short list of (class, weight): one entry for a known class, several for a class that is
only likely. Everything is a sum over rows, never a mean.

A node is looked at in two steps. `weigh` finds its classes; `count` then finds, for one
test, the weight of each class in each code that is met. Both write over what the node
before them left, so read it before going down into a child.
"""

from libc.math cimport log2

from askless._core.base._keys cimport mix_with
from askless._core.base._types cimport (
    float64_t, int32_t, int64_t, intp_t, uint8_t, uint16_t, uint64_t,
)
from askless._core.price._prices cimport Path, Prices


# A node that is looked at.
cdef struct Node:
    intp_t start       # its rows are [start, start + n[ of the workspace
    intp_t n
    intp_t active      # where on the stack the tests that may split it are listed
    intp_t n_active
    uint64_t key       # source of its random numbers
    float64_t due      # weight that tests are charged to below a delayed one; or 0


cdef class Workspace:
    # The examples: shared by copies, never written.
    cdef readonly intp_t n_rows
    cdef readonly intp_t n_tests
    cdef readonly intp_t n_classes
    cdef readonly bint is_wide               # codes are two bytes
    cdef readonly bint is_hard               # one entry a row
    cdef const uint8_t[:, ::1] narrow        # (n_tests, n_rows) or empty
    cdef const uint16_t[:, ::1] wide         # (n_tests, n_rows) or empty
    cdef const int32_t[::1] n_levels         # (n_tests,)
    cdef const uint8_t[::1] is_ordered       # (n_tests,) branch at a cut
    cdef const int64_t[::1] entry_start      # (n_rows + 1,)
    cdef const int32_t[::1] entry_class
    cdef const float64_t[::1] entry_weight
    cdef const float64_t[::1] row_weight     # (n_rows,) sum of a row's entries
    cdef const float64_t[:, ::1] mistakes    # (true class, decision)
    cdef readonly Prices prices
    cdef const float64_t[::1] x_log_x        # of whole numbers 0, 1, ...
    cdef intp_t n_logs
    cdef bint is_whole                       # every sum of weights is in that table

    # Where this workspace stands: rows by node, and what is paid for.
    cdef int32_t[::1] rows                   # (n_rows,)
    cdef readonly Path path

    # What `weigh` found.
    cdef intp_t n_present                    # classes present
    cdef int32_t[::1] present                # (n_present,) ascending
    cdef int32_t[::1] slot                   # (n_classes,) class -> place in present
    cdef float64_t[::1] totals               # (n_present,) weight of each
    cdef float64_t weight                    # of the node
    cdef int32_t[::1] slots                  # (n_rows,) of each row's class, if hard
    cdef float64_t[::1] weights              # (n_rows,) of each row, if hard

    # What `count` found. The weight of the s-th class present in code c is
    # counts[c * n_present + s].
    cdef intp_t n_met
    cdef int32_t[::1] met                    # (n_met,) codes ascending
    cdef float64_t[::1] counts
    cdef float64_t[::1] code_weight          # by code
    cdef uint64_t[::1] seen                  # a bit a code; all zero between calls

    # A stack of integers for what a recursion must remember: take and give back.
    cdef int32_t* stack
    cdef intp_t top
    cdef intp_t room
    cdef bint out_of_memory

    cdef float64_t[::1] left                 # (n_classes,) free for use by a scan
    cdef int32_t[::1] spare                  # (n_rows,) for moving rows
    cdef int32_t[::1] place                  # by code

    # A fresh workspace on the same examples, at the root; perhaps at other prices.
    cpdef Workspace copy(self, Prices prices=*)

    # List all rows, ascending.
    cdef void stand_on_all(self) noexcept nogil

    # The root over the first n rows that are listed, with all tests; what is due and
    # the stack are empty. n_active is 0 if memory ran out.
    cdef Node start_root(self, intp_t n, uint64_t key) noexcept nogil

    # Find the classes and weights of the rows [start, start + n[.
    cdef void weigh(self, intp_t start, intp_t n) noexcept nogil

    # Count one test over the same rows.
    cdef void count(self, intp_t start, intp_t n, intp_t test) noexcept nogil

    # Move the rows of a node apart. With cut >= 0: codes <= cut, then the others; else
    # by code. Returns where on the stack the split is described, -1 if memory ran out:
    #     n children, their codes (0 and 1 for a cut), their n + 1 starts
    cdef intp_t split(
        self, intp_t start, intp_t n, intp_t test, intp_t cut
    ) noexcept nogil

    # Take n integers of the stack; returns their place, -1 if memory ran out. Give
    # back by setting `top` to what it was. A pointer is good until the next take.
    cdef intp_t take(self, intp_t n) noexcept nogil

    # What the test that was counted last charges all rows of the node, in context; see
    # `_payments` for `due`.
    cdef float64_t price(self, intp_t test, float64_t due) noexcept nogil

    # Buy a test for a node of some weight and move its rows apart by it, as `split`
    # does; `below` gets what is due to the children. Take the payment back by
    # `path.unwind`: when the node is done, or if something is due, when the node of
    # the delayed test is done.
    cdef intp_t buy_and_split(
        self, const Node* node, intp_t test, intp_t cut, float64_t weight,
        float64_t* below,
    ) noexcept nogil

    # Be done with a node: give back the stack from `top` on, and take back payments
    # after the first `marks`, unless something is due above it. A leaf has paid nothing.
    cdef void leave(
        self, const Node* node, intp_t marks, intp_t top, bint is_leaf
    ) noexcept nogil


# x log2 x, from a table where x is a whole number in it.
cdef inline float64_t times_log(Workspace ws, float64_t x) noexcept nogil:
    cdef intp_t whole = <intp_t> x
    if whole < ws.n_logs and <float64_t> whole == x:
        return ws.x_log_x[whole]
    return x * log2(x) if x > 0 else 0.0


# The j-th child of a split that is described at `at`, its tests listed at `active`.
cdef inline Node child_node(
    Workspace ws, intp_t at, intp_t j, intp_t active, intp_t n_active, uint64_t key,
    float64_t due,
) noexcept nogil:
    cdef:
        Node child
        const int32_t* starts = ws.stack + at + 1 + ws.stack[at]
    child.start = starts[j]
    child.n = starts[j + 1] - starts[j]
    child.active = active
    child.n_active = n_active
    child.key = key
    child.due = due
    return child


# Which class to decide, by the class weights that `weigh` found: the least cost of
# mistakes, on a tie the first. `least` gets that cost, summed over the rows.
cdef intp_t decide(Workspace ws, float64_t* least) noexcept nogil

# The least cost of mistakes of a set with such weights of the classes present.
cdef float64_t least_mistakes(
    Workspace ws, const float64_t* weights
) noexcept nogil


# The key of a child, from that of its parent: random numbers depend on where in the
# tree they are used, not on what was drawn before.
cdef inline uint64_t child_key(
    uint64_t key, intp_t test, intp_t cut, intp_t branch
) noexcept nogil:
    return mix_with(
        mix_with(mix_with(key, <uint64_t> test), <uint64_t> (cut + 1)),
        <uint64_t> branch,
    )
