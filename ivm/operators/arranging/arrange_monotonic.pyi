from ivm.operators.arranging.arrange import Arrange

class ArrangeMonotonic(Arrange):
    """Seals each activation's input as a batch, at the loops' first rounds."""
