from ivm.operators.reductions.touched_groups import Grouped

class Walk(Grouped):
    """Walks through a group's values in order, to either side of a place."""
