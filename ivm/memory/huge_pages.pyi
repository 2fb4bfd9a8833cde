def waiting_bytes() -> int:
    """The bytes that wait here for their next taker: nobody uses them."""
