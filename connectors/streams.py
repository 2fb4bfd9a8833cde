"""Streams: a table's reading of one topic, with positions, stalls and records put aside of its own.

A table of one topic has one stream, which bears its name. A table of a topic pattern has one for
each topic, whose name is the table's and the topic's; neither has a colon.
"""


def stream_name(table: str, topic: str) -> str:
    """The stream of a topic that a table's pattern matches.

    >>> stream_name("orders", "shop.eu.orders")
    'orders:shop.eu.orders'
    """
    return f"{table}:{topic}"


def table_of(stream: str) -> str:
    """The table that a stream is one of.

    >>> table_of("orders:shop.eu.orders"), table_of("orders")
    ('orders', 'orders')
    """
    return stream.partition(":")[0]
