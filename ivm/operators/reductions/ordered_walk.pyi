from ivm.operators.reductions.touched_groups import TouchedGroups

class OrderedWalk(TouchedGroups):
    """Walks through a group's values in order, to either side of a place."""
