"""Members that come are told of one another; what cannot be of one cluster is refused by name."""

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Thread

import pytest

from ivm.cluster import member
from ivm.cluster.hello import COMMANDS, Hello
from ivm.cluster.identity import identity
from ivm.cluster.links import enter
from ivm.cluster.rendezvous import Rendezvous
from ivm.errors import PoolFailed

ADDRESS = "127.0.0.1", 1


@pytest.fixture
def rendezvous(encrypted: bool) -> Iterator[Rendezvous]:
    rendezvous = Rendezvous("127.0.0.1", encrypted=encrypted)
    yield rendezvous
    rendezvous.close()


def come(rendezvous: Rendezvous, number: int) -> Thread:
    """Let a member come, on a thread, until it is not wanted."""

    def run() -> None:
        with suppress(EOFError, OSError):
            member.run(rendezvous.address, rendezvous.credentials, number)

    thread = Thread(target=run)
    thread.start()
    return thread


def test_members_come_in_any_order_and_are_known_by_number(rendezvous: Rendezvous) -> None:
    threads = [come(rendezvous, number) for number in (2, 0, 1)]
    members = rendezvous.members(3, 30)
    assert [each.hello.number for each in members] == [0, 1, 2]
    assert len({each.hello.entrance for each in members}) == 3
    for each in members:
        for link in each.links.values():
            link.close()
    for thread in threads:
        thread.join()


def test_one_of_another_version_is_refused_with_what_differs(
    rendezvous: Rendezvous, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = identity()._replace(host="elsewhere", source="0123", python="2.7.18")
    monkeypatch.setattr(member, "identity", lambda: other)
    thread = come(rendezvous, 0)
    with pytest.raises(PoolFailed, match=r"host elsewhere.*code of ivm.*0123.*Python.*2\.7\.18"):
        rendezvous.members(1, 30)
    rendezvous.close()
    thread.join()


def test_one_that_encodes_rows_otherwise_is_refused(
    rendezvous: Rendezvous, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = identity()._replace(owners=(0, 0, 0, 0, 0))
    monkeypatch.setattr(member, "identity", lambda: other)
    thread = come(rendezvous, 0)
    with pytest.raises(PoolFailed, match="the encoding of rows"):
        rendezvous.members(1, 30)
    rendezvous.close()
    thread.join()


@pytest.mark.parametrize(
    "message",
    [
        pickle.dumps(("a class that is not here", 0)),
        b"",
        b"\xff\xfe",
        b"[1, 2]",
        b'{"number": 0, "release": "2.0"}',
        Hello(0, "a fourth kind", ADDRESS, ADDRESS, identity()).message(),
        Hello(7, COMMANDS, ADDRESS, ADDRESS, identity()).message(),
    ],
)
def test_one_that_says_first_what_no_member_of_this_release_says_is_told_of(
    rendezvous: Rendezvous, message: bytes
) -> None:
    with ThreadPoolExecutor(1) as threads:
        entered = threads.submit(enter, rendezvous.address, rendezvous.credentials)
        greeting = threads.submit(lambda: entered.result().send_bytes(message))
        with pytest.raises(PoolFailed, match=r"at 127\.0\.0\.1 runs another release.*same image"):
            rendezvous.members(1, 30)
        greeting.result()
        entered.result().close()


def test_one_that_says_nothing_is_not_waited_for_for_ever(
    rendezvous: Rendezvous, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ivm.cluster.rendezvous.HELLO_SECONDS", 0.5)
    with ThreadPoolExecutor(1) as threads:
        entered = threads.submit(enter, rendezvous.address, rendezvous.credentials)
        with pytest.raises(PoolFailed, match=r"members \[0\] of the cluster did not come in time"):
            rendezvous.members(1, 2)
        entered.result().close()


def test_those_that_do_not_come_are_named(rendezvous: Rendezvous) -> None:
    thread = come(rendezvous, 1)
    with pytest.raises(PoolFailed, match=r"members \[0, 2\] of the cluster did not come in time"):
        rendezvous.members(3, 2)
    rendezvous.close()
    thread.join()


def test_it_ends_with_the_reason_for_which_nobody_comes(rendezvous: Rendezvous) -> None:
    with pytest.raises(PoolFailed, match="the job was killed"):
        rendezvous.members(1, 30, lambda: "the job was killed")
