"""The time of day, for deadlines inside kernels."""


cdef extern from "clock.h" nogil:
    double seconds_now()
