def available_bytes() -> int:
    """The bytes that this process may have: the machine's, or its control group's."""
