"""Contract of what runs for long: it ends when asked to, or when its time is out."""

from askless._core.base._types cimport float64_t


cdef class Stoppable:
    cdef float64_t deadline
    cdef volatile bint is_stopped  # asked to stop, by any thread
    cdef bint is_out               # the run at hand has to return

    # Start a run of so many seconds.
    cdef void begin(self, float64_t seconds) noexcept nogil

    # Whether the run has to return. Asks the clock, so not for the innermost loops.
    cdef bint is_late(self) noexcept nogil
