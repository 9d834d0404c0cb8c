"""Runs that can be stopped: the deadline, and the word of another thread."""

from askless._core.base._clock cimport seconds_now
from askless._core.base._types cimport float64_t


cdef class Stoppable:
    """Something that runs until it is done, asked to stop, or out of time."""

    def stop(self):
        """Make a run return soon, and later ones at once.

        What is proved is kept; :meth:`resume` lets it run again.
        """
        self.is_stopped = True

    def resume(self):
        """Take a stop back."""
        self.is_stopped = False

    cdef void begin(self, float64_t seconds) noexcept nogil:
        self.is_out = False
        self.deadline = seconds_now() + seconds

    cdef bint is_late(self) noexcept nogil:
        if not self.is_out:
            self.is_out = self.is_stopped or seconds_now() > self.deadline
        return self.is_out
