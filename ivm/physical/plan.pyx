"""Physical plans: all that a dataflow is made of, decided once and built as often as it is wanted.

Stages have numbers, upstream first, a loop after those of its body. What a plan takes from the pool
has slots. So a plan holds no state: it can be built again, under any name, wherever the pool is as
the plan takes it to be. Compiled, since building reads everything that a plan says.
"""


cdef class PiecePlan:
    """Stages that belong together, in order: those that produce one arrangement or one capture.

    `arranged` is the node whose arrangement it is, unless it is a dataflow's own. Its name follows
    that of the dataflow if it is `owned`. It needs what was `found`, by slot, and other pieces
    that are `made`.

    `stages` are the numbers of the root's that belong to it. The rest says which ones, at any
    depth, hold what, and in which attribute of an operator (None: in itself); `holding` lists all
    of these, and `strings` says whether any of its traces has strings.
    """

    def __init__(self, str name, *, bint owned=False, arranged=None):
        self.name = name
        self.owned = owned
        self.arranged = arranged
        self.found = {}
        self.made = {}
        self.stages = []
        self.loops = []
        self.fallible = []
        self.traces = []
        self.groups = []
        self.curves = []
        self.states = []
        self.strings = False
        self.holding = ()

    def hand_over(self, int number, PiecePlan to):
        """Let stage `number` belong to `to`, with all that it holds."""
        for own, others in ((self.stages, to.stages), (self.loops, to.loops),
                            (self.fallible, to.fallible), (self.traces, to.traces)):
            if number in own:
                own.remove(number)
                others.append(number)
        for own, others in ((self.groups, to.groups), (self.curves, to.curves)):
            others += [held for held in own if held[0] == number]
            own[:] = [held for held in own if held[0] != number]
        to.states += [held for held in self.states if held[1] == number]
        self.states[:] = [held for held in self.states if held[1] != number]
        to.strings = to.strings or self.strings

    def finish(self):
        """Put its stages in order, and list as `holding` those that hold something.

        To be done once nothing is added any more.
        """
        self.stages.sort()
        held = [n for n, _ in (*self.groups, *self.curves)] + [n for _, n, _ in self.states]
        self.holding = tuple({*self.loops, *self.fallible, *self.traces, *held})


cdef class PhysicalPlan:
    """The plan of one collection: `stages`, in regions of `depths`; `root` lists those of the root.

    `operations` say what each stage does, with its arguments as typed values.
    `arrangements` are those that it makes, each with its piece. `result` is the one that has the
    collection's rows, of a piece that it makes or, by slot, of one that was found; None if no
    arrangement is kept of them. The last of the `pieces` is the collection's own, and stage
    `capture`, if there is one, keeps its changes. `constants` are rows that stages put in, in a
    layout, when the plan is built. `indexing` lists the `arrangements` that index rows of a
    collection, with its name.

    The plan takes for granted that the pool has the arrangements `found`, by slot, and not those
    that are `absent`, and that each collection that it reads only grows or not, as `growing` says.
    `fallible` says whether any of its rows may be an error, and `foreseeable` whether what it reads
    tells before it runs how much its stages put out.
    """

    def __init__(self, list depths, list stages, list operations, list root, list pieces,
                 dict arrangements, tuple result, *, tuple indexing=(), capture=None, tuple constants=(),
                 tuple found=(), tuple absent=(), dict growing=None, bint only_grows=False,
                 bint foreseeable=False):
        self.depths = depths
        self.stages = stages
        self.operations = operations
        self.root = root
        self.pieces = pieces
        self.arrangements = arrangements
        self.result = result
        self.indexing = indexing
        self.capture = capture
        self.constants = constants
        self.found = found
        self.absent = absent
        self.growing = {} if growing is None else growing
        self.only_grows = only_grows
        self.foreseeable = foreseeable
        self.fallible = any([(<PiecePlan> piece).fallible for piece in pieces])
