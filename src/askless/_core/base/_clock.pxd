"""The time of day, for deadlines inside kernels."""


cdef extern from "askless/_core/base/clock.h" nogil:
    double seconds_now()
