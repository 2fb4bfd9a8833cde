"""The socket that the service listens on."""

import socket

from api.serve import listening


def test_an_answer_in_two_parts_does_not_wait_for_the_first_to_be_acknowledged() -> None:
    with (
        listening("127.0.0.1", 0, 1.0) as listener,
        socket.create_connection(listener.getsockname()),
    ):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
