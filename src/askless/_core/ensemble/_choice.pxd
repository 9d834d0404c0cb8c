"""Contract of decisions: what is known of the sums, and what to buy for them."""

from libc.math cimport INFINITY

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._trees cimport Model
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float64_t, intp_t


cdef enum:
    # How what is open is taken to vary, where someone asks how sure a case is.
    NOT_ASKED = 0
    INDEPENDENT = 1   # each tree on its own: variances add up
    TOGETHER = 2      # every split at once: deviations add up


cdef struct View:
    # What is known of the sums.
    intp_t first     # the leader; of two classes, 1 if the sum is positive
    intp_t second    # who follows
    bint is_settled
    intp_t winner    # by leaves that are left: who is ahead for good, -1 if nobody is
    float64_t z      # lead over the deviation of what is open


# Write down who leads, whether that can still change, and, if asked, how sure it is.
cdef void look(const Model* m, Case* c, int varies, View* view) noexcept nogil

# The same by bounds of each tree on its own, and never how sure it is.
cdef void look_apart(const Model* m, const Case* c, View* view) noexcept nogil

# Write down who leads by expected sums, and no more; not of votes.
cdef void rank_means(const Model* m, const Case* c, View* view) noexcept nogil

# How sure a case is that somebody leads, who was looked for.
cdef float64_t find_z(
    const Model* m, const Case* c, int varies, const View* view
) noexcept nogil

# Whether a case needs no more: nothing is open, or what is open cannot or will hardly
# change the decision.
cdef inline bint is_over(
    const Case* c, const View* view, float64_t threshold, bint is_complete
) noexcept nogil:
    if c.n_waiting == 0 or (view.is_settled and not is_complete):
        return True
    return threshold < INFINITY and view.z >= threshold


# 1 / price, by which tests are compared; infinite for what is free. All prices below
# 1e-270 are taken for that much, so that no score overflows.
cdef inline float64_t inverse_price(float64_t price) noexcept nogil:
    if price <= 0:
        return INFINITY
    return 1.0 / (price if price > 1e-270 else 1e-270)


# The test that most waits for, for its price; -1 if nothing does.
cdef intp_t choose(
    const Model* m, Case* c, Prices prices, const float64_t* inverse,
    const View* view,
) noexcept nogil

# Charge for a test; a delayed one orders everything that may still be asked.
cdef float64_t pay(
    const Model* m, Case* c, Prices prices, intp_t test, intp_t code
) noexcept nogil

# The most that a test can charge now, whatever it shows.
cdef float64_t most_charged(
    const Model* m, const Case* c, Prices prices, intp_t test
) noexcept nogil

# Whether a test that was not bought may still be asked.
cdef bint is_wanted(const Model* m, const Case* c, intp_t test) noexcept nogil

# Write the sums: as the source adds them if every tree has ended.
cdef void finish(const Model* m, const Case* c, float64_t* raw) noexcept nogil
