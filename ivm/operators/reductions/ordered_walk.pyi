from ivm.operators.reductions.touched_groups import TouchedGroups

class Walk(TouchedGroups):
    """Walks through a group's values in order, to either side of a place."""
