# The number types of the compiled core, named once.
#
# A column of a table is stored as small integer codes, laid out for a test of L levels:
#
#     0 .. L-1    the levels: a category each, or bins of a number in ascending order
#     L           missing: no outcome was recorded, which is an outcome of its own
#     L + 1       unknown: any level may be seen (in a table), or a category never seen
#                 before (when new rows are coded)
#
# so that one byte holds up to 254 levels and two bytes up to 65,534.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef double float64_t
ctypedef float float32_t
ctypedef Py_ssize_t intp_t

ctypedef fused code_t:
    uint8_t
    uint16_t

ctypedef fused real_t:
    float32_t
    float64_t
