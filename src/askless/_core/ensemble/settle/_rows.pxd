"""Contract of rows that are settled by their leaves: run each to where that is so."""

from askless._core.ensemble._case cimport Case
from askless._core.ensemble._rows cimport Results, Rows, Terms
from askless._core.ensemble._trees cimport Model
from askless._core.price._prices cimport Prices
from askless._core.base._types cimport float64_t, intp_t


# Run a row that was brought back to the first state until it is settled, or the terms
# end it before.
cdef void run_by_leaves(
    const Model* m, Case* c, Prices prices, const float64_t* inverse, const Rows* rows,
    intp_t row, const Terms* terms, const Results* results,
) noexcept nogil
