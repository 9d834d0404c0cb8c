"""Contract of a tree under construction: nodes in preorder, appended one at a time."""

from askless._core.base._types cimport float64_t, int32_t, int64_t, intp_t


cdef class TreeBuffer:
    cdef readonly intp_t n_nodes
    cdef readonly intp_t n_branches
    cdef readonly intp_t n_weights
    cdef intp_t node_room
    cdef intp_t branch_room
    cdef intp_t weight_room
    cdef int32_t* test            # -1: leaf
    cdef int32_t* cut             # -1: a child for every outcome
    cdef int32_t* parent          # -1: root
    cdef int32_t* parent_branch   # which branch of the parent leads here
    cdef int32_t* default_branch  # where an outcome without a branch goes
    cdef int32_t* branch_start    # of the node's first branch
    cdef int32_t* branch_code
    cdef int32_t* branch_child
    cdef int64_t* weight_start    # of the node's first class weight
    cdef int32_t* weight_class
    cdef float64_t* weight

    # Each returns the index of what it added.
    cdef int release(self) except -1
    cdef int resize_nodes(self, intp_t room) except -1 nogil
    cdef int resize_branches(self, intp_t room) except -1 nogil
    cdef int resize_weights(self, intp_t room) except -1 nogil
    cdef int resize(
        self, intp_t node_room, intp_t branch_room, intp_t weight_room
    ) except -1 nogil
    cdef intp_t add_node(self, intp_t parent, intp_t parent_branch) except -1 nogil
    cdef intp_t add_branch(self, intp_t code) except -1 nogil
    cdef intp_t add_weight(self, intp_t class_index, float64_t weight) except -1 nogil
