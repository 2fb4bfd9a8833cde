class Parking:
    """Parks updates for later times of their scope."""
