class Parking:
    """Updates that wait for a later time of their scope."""
