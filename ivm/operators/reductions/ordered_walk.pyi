from ivm.operators.reductions.touched_groups import Grouped

class Walk(Grouped):
    """Steps through a group's values in order, to either side of a place."""
