from ivm.operators.arranging.arrange import Arrange

class ArrangeRoundless(Arrange):
    """Seals each activation's input as a batch, all of it in the loops' first rounds."""
