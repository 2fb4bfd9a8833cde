"""Members of a mesh hear one another at each meeting, on plain and encrypted connections."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import AuthenticationError

import pytest

from ivm.cluster.credentials import Credentials
from ivm.cluster.links import Entrance, enter
from ivm.cluster.mesh import Mesh, MeshBroken, connect
from ivm.operators.base.mesh import MeetingLeft


@pytest.fixture
def mesh(known: Credentials) -> Iterator[list[Mesh]]:
    """Three connected members."""
    with ThreadPoolExecutor(3) as threads:
        entrances = [Entrance("127.0.0.1", known) for _ in range(3)]
        addresses = [entrance.address for entrance in entrances]
        members = [
            future.result()[0]
            for future in [
                threads.submit(connect, number, entrance, addresses, known)
                for number, entrance in enumerate(entrances)
            ]
        ]
    yield members
    for member in members:
        member.close()
    for entrance in entrances:
        entrance.close()


def together(mesh: list[Mesh], meet: Callable[[Mesh], object]) -> list[Future[object]]:
    """The outcome of `meet` for each member, all at once."""
    with ThreadPoolExecutor(len(mesh)) as threads:
        return [threads.submit(meet, each) for each in mesh]


def meet_unless_1(mesh: Mesh) -> None:
    """Member 1 leaves; the others meet, each somewhere else."""
    if mesh.member == 1:
        mesh.leave()
    else:
        mesh.meet(mesh.member, 0, None)


def test_all_hear_the_least_that_one_says(mesh: list[Mesh]) -> None:
    heard = together(mesh, lambda each: each.meet(1, 7 + each.member, None)[0])
    assert [each.result() for each in heard] == [7, 7, 7]


def test_each_gets_the_blocks_that_others_have_for_it(mesh: list[Mesh]) -> None:
    def meet(each: Mesh) -> object:
        return each.meet(1, 0, [f"{each.member} to {to}".encode() for to in range(3)])[1]

    assert [each.result() for each in together(mesh, meet)] == [
        [b"1 to 0", b"2 to 0"],
        [b"0 to 1", b"2 to 1"],
        [b"0 to 2", b"1 to 2"],
    ]


def test_two_that_send_more_than_sockets_hold_do_not_wait_for_each_other(mesh: list[Mesh]) -> None:
    block = bytes(range(256)) * (1 << 14)
    heard = together(mesh, lambda each: each.meet(1, 0, [block] * 3)[1])
    assert all(each.result() == [block, block] for each in heard)


def test_one_may_be_at_the_next_meeting_before_all_have_left_the_last(mesh: list[Mesh]) -> None:
    def meet(each: Mesh) -> object:
        return [each.meet(place, place * 3 + each.member, None)[0] for place in range(200)]

    assert [each.result() for each in together(mesh, meet)] == [[3 * p for p in range(200)]] * 3


def test_members_at_different_places_are_told_so(mesh: list[Mesh]) -> None:
    heard = together(mesh, lambda each: each.meet(each.member, 0, None))
    assert all(isinstance(each.exception(), MeshBroken) for each in heard)
    assert "they do not run the same dataflows" in str(heard[0].exception())


def test_where_one_leaves_all_do_wherever_they_are(mesh: list[Mesh]) -> None:
    heard = together(mesh, meet_unless_1)
    assert [type(each.exception()) for each in heard] == [MeetingLeft, type(None), MeetingLeft]


def test_who_has_left_meets_again(mesh: list[Mesh]) -> None:
    together(mesh, meet_unless_1)
    heard = together(mesh, lambda each: each.meet(2, 5 + each.member, None)[0])
    assert [each.result() for each in heard] == [5, 5, 5]


def test_a_member_that_goes_ends_the_meeting_of_the_others(mesh: list[Mesh]) -> None:
    gone = threading.Timer(0, mesh[2].close)
    gone.start()
    heard = together(mesh[:2], lambda each: each.meet(1, 0, None))
    gone.join()
    assert all(isinstance(each.exception(), MeshBroken) for each in heard)


def test_a_stranger_does_not_keep_members_from_connecting(known: Credentials) -> None:
    with (
        Entrance("127.0.0.1", known) as first,
        Entrance("127.0.0.1", known) as second,
        ThreadPoolExecutor(2) as threads,
    ):
        addresses = [first.address, second.address]
        waiting = threads.submit(connect, 0, first, addresses, known)
        with pytest.raises((AuthenticationError, EOFError, OSError)):
            enter(first.address, Credentials.new(encrypted=known.certificate is not None))
        connected = connect(1, second, addresses, known)
        for mesh in (*waiting.result(), *connected):
            mesh.close()
