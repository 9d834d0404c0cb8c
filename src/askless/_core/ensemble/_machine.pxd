"""Contract of the compiled ensemble: its model, its first state, its packed votes."""

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t
from askless._core.ensemble._blocks cimport Blocks
from askless._core.ensemble._case cimport Case
from askless._core.ensemble._rows cimport Rows
from askless._core.ensemble._trees cimport Model
from askless._core.ensemble._vote_rows cimport VoteRows


cdef class Machine:
    cdef Model model
    cdef Case* root
    cdef object kept          # keeps the arrays alive that the model points to
    cdef readonly intp_t n_outputs
    cdef readonly intp_t n_trees
    cdef const float64_t[::1] cuts
    cdef const int64_t[::1] cut_start
    cdef Blocks blocks        # of votes
    cdef VoteRows vote_rows   # of votes that are plain enough, else None

    cdef Rows find_rows(
        self, const float64_t[:, ::1] values, const int32_t[:, ::1] codes
    )
