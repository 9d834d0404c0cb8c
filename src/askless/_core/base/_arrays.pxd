"""Arrays that get longer, such as the stack of nodes that are still to be grown."""

from libc.stdlib cimport realloc

from askless._core.base._types cimport intp_t


cdef inline int extend_array(
    void** array, intp_t* room, intp_t needed, size_t size
) except -1 nogil:
    """Let an array hold `needed` items of a size; what it holds may move."""
    cdef:
        void* larger
        intp_t more
    if needed <= room[0]:
        return 0
    more = max(64, 2 * needed)
    larger = realloc(array[0], more * size)
    if larger == NULL:
        with gil:
            raise MemoryError("no memory left for the nodes to grow")
    array[0] = larger
    room[0] = more
    return 0
