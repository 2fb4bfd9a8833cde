# Which of a plan's stages belong together, and which of them hold what.
cdef class PiecePlan:
    cdef readonly str name              # follows that of the dataflow if the piece is `owned`
    cdef readonly bint owned
    cdef readonly object arranged       # the node whose arrangement it is, or None
    cdef readonly dict found            # slots of what it reads; values are None
    cdef readonly dict made             # pieces of the plan that it reads; values are None
    cdef readonly list stages           # those of the root, by number
    cdef readonly list loops
    cdef readonly list fallible
    cdef readonly list traces
    cdef readonly list groups
    cdef readonly list curves
    cdef readonly list states
    cdef public bint strings            # whether any of its traces has strings
    cdef readonly tuple holding         # the stages that hold something, once it is finished


# What a dataflow is made of.
cdef class PhysicalPlan:
    cdef readonly list depths
    cdef readonly list stages
    cdef readonly list operations
    cdef readonly list root
    cdef readonly list pieces
    cdef readonly dict arrangements
    cdef readonly tuple result
    cdef readonly tuple indexing
    cdef readonly object capture
    cdef readonly tuple constants
    cdef readonly tuple found
    cdef readonly tuple absent
    cdef readonly dict growing
    cdef readonly bint only_grows
    cdef readonly bint foreseeable
    cdef readonly bint fallible
