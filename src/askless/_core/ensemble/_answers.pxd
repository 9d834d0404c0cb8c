"""Contract of full answers: the sums of all trees, whatever that costs."""

from askless._core.ensemble._rows cimport Rows
from askless._core.ensemble._trees cimport Model
from askless._core.base._types cimport float64_t


# Write the sums of every row as the source adds them; not of votes.
cdef int answer_each(
    const Model* m, const Rows* rows, float64_t* raw, int n_threads
) except -1
