"""Links carry messages between those that have the credentials of a cluster, and nobody else."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import AuthenticationError
from ssl import SSLCertVerificationError

import pytest

from ivm.cluster.credentials import Credentials
from ivm.cluster.links import SMALL, Entrance, Link, enter


@pytest.fixture
def ends(known: Credentials) -> Iterator[tuple[Link, Link]]:
    """Both ends of a link."""
    with Entrance("127.0.0.1", known) as entrance, ThreadPoolExecutor(1) as threads:
        accepted = threads.submit(entrance.accept, 10.0)
        with enter(entrance.address, known) as one, accepted.result() as other:
            yield one, other


@pytest.mark.parametrize("length", [0, 1, SMALL, SMALL + 1, 5_000_000])
def test_a_message_arrives_as_it_was_sent(ends: tuple[Link, Link], length: int) -> None:
    one, other = ends
    message = bytes(range(256)) * (length // 256 + 1)
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(one.send_bytes, message[:length])
        assert other.recv_bytes() == message[:length]
        sent.result()


def test_values_go_both_ways(ends: tuple[Link, Link]) -> None:
    one, other = ends
    one.send(("step", [7], {"of": None}))
    other.send({"member": 1})
    assert (other.recv(), one.recv()) == (("step", [7], {"of": None}), {"member": 1})


def test_a_message_of_more_than_is_taken_is_refused(ends: tuple[Link, Link]) -> None:
    one, other = ends
    one.send_bytes(b"12345")
    with pytest.raises(OSError, match="5 bytes, where 4 are the most"):
        other.recv_bytes(4)


def test_who_waits_for_a_message_hears_of_the_end(ends: tuple[Link, Link]) -> None:
    one, other = ends
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(end.recv) for end in ends]
        one.cut()
        assert all(isinstance(each.exception(), EOFError | OSError) for each in waiting)
    with pytest.raises((EOFError, OSError)):
        other.recv()


def strangers(known: Credentials) -> list[Credentials]:
    """Those that have something of the credentials at most, by what they lack."""
    new = Credentials.new(encrypted=True)
    unlike = [new, replace(known, secret=new.secret), Credentials(new.secret)]
    if known.certificate is not None:
        unlike += [replace(known, certificate=None), replace(known, certificate=new.certificate)]
    return unlike


def test_who_lacks_some_of_the_credentials_is_refused(
    known: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ivm.cluster.links.CHALLENGE_SECONDS", 1)
    with Entrance("127.0.0.1", known) as entrance, ThreadPoolExecutor(1) as threads:
        accepted = threads.submit(entrance.accept, 60.0)
        for stranger in strangers(known):
            with pytest.raises((AuthenticationError, EOFError, OSError)):
                enter(entrance.address, stranger)
        with enter(entrance.address, known), accepted.result():
            pass


def test_nobody_enters_where_another_certificate_is_shown() -> None:
    known = Credentials.new(encrypted=True)
    other = replace(known, certificate=Credentials.new(encrypted=True).certificate)
    with Entrance("127.0.0.1", other) as entrance, ThreadPoolExecutor(1) as threads:
        accepted = threads.submit(entrance.accept, 60.0)
        with pytest.raises(SSLCertVerificationError):
            enter(entrance.address, known)
        with enter(entrance.address, other), accepted.result():
            pass


def test_one_that_says_nothing_does_not_keep_others_out(
    known: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ivm.cluster.links.CHALLENGE_SECONDS", 1)
    with Entrance("127.0.0.1", known) as entrance, ThreadPoolExecutor(1) as threads:
        accepted = threads.submit(entrance.accept, 10.0)
        with (
            socket.create_connection(entrance.address),
            enter(entrance.address, known),
            accepted.result(),
        ):
            pass
