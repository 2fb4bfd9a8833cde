from ivm.operators.operator import Operator

class Dealer(Operator):
    """Of which every row goes to the shard that owns its key."""
