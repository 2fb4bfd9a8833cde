"""Calls of a cluster to its members: commands in one order to all, and reads beside them.

A command is the name of a method of `ivm.cluster.lending.LendingPool` with its arguments. Of a
member that is lost there is no reply; then nobody is called any more.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from threading import Lock
from typing import Any, TypeAlias

from ivm.cluster.hello import COMMANDS, PULSE, READS
from ivm.cluster.pulse import Pulse
from ivm.cluster.rendezvous import Member
from ivm.cluster.replies import Done, Refused, Reply, broken
from ivm.errors import DataflowFailed, PoolFailed, Unsupported

MOST_UNANSWERED = 64
"""Commands whose replies have not been read: what these take has room in any socket."""

Command: TypeAlias = tuple[str, tuple[object, ...], dict[str, object]]


class Calls:
    """Calls to members; the caller of commands holds `lock`, reads may come from any thread.

    Once a member is lost, or has said nothing for `lost_seconds`, every call raises PoolFailed, and
    `when_failed` hears why.
    """

    def __init__(self, lost_seconds: float) -> None:
        self.lock = Lock()
        self.failure: str | None = None
        self.when_failed: Callable[[str], None] = lambda reason: None
        self.members: list[Member] = []
        self._lost_seconds = lost_seconds
        self._reading = Lock()
        self._failing = Lock()
        self._closed = False
        self._pulse: Pulse | None = None
        self._given_back: deque[tuple[int, int]] = deque()
        self._unanswered: Counter[int] = Counter()

    def start(self, members: Sequence[Member], bounds: Mapping[str, float]) -> None:
        """Let these members connect with one another and begin (raises PoolFailed)."""
        self.members = list(members)
        addresses = [member.hello.entrance for member in members]
        try:
            for member in members:
                member.links[COMMANDS].send((addresses, dict(bounds)))
        except OSError as error:
            raise PoolFailed(f"a member went before it was connected: {error}") from error
        links = [member.links[PULSE] for member in members]
        self._pulse = Pulse(links, self._lost_seconds, self.fail)

    def close(self) -> None:
        """End all members."""
        self._closed = True
        self.fail("the cluster was closed")
        if self._pulse is not None:
            self._pulse.stop()
        with self.lock, self._reading:
            for member in self.members:
                for link in member.links.values():
                    link.close()

    def fail(self, reason: str) -> None:
        """Be failed from now on, unless it is so already: nobody waits for a member any more."""
        with self._failing:
            if self.failure is not None:
                return
            self.failure = reason
        for member in self.members:
            for link in member.links.values():
                link.cut()
        if not self._closed:
            self.when_failed(reason)

    def refuse_failed(self) -> None:
        """Raise PoolFailed where there is nobody to be called."""
        if self.failure is not None:
            raise PoolFailed(self.failure)
        if not self.members:
            raise PoolFailed("the cluster has no members yet")

    # --- commands ---

    def all(self, method: str, *arguments: object, **named: object) -> list[Any]:
        """What a command to all members gives, by number; raises what one of them raises."""
        return self.values(self.replies(method, *arguments, **named))

    def each(self, method: str, arguments: Sequence[tuple[object, ...]]) -> list[Any]:
        """The answers of all members, by number, to a command with the arguments of each."""
        commands: dict[int, Command] = {
            number: (method, given, {}) for number, given in enumerate(arguments)
        }
        return self.values(self._replies_to(commands))

    def one(self, number: int, method: str, *arguments: object) -> Any:
        """What a command to one member gives."""
        return self.values(self._replies_to({number: (method, arguments, {})}))[0]

    def replies(self, method: str, *arguments: object, **named: object) -> list[Reply]:
        """The replies to a command to all members (raises Unsupported for what cannot be sent)."""
        return self._replies_to(dict.fromkeys(self._numbers, (method, arguments, named)))

    def values(self, replies: Sequence[Reply]) -> list[Any]:
        """The values of replies; raises one error for all that were refused."""
        self._note_failure(replies)
        self.refuse_failed()
        if refusals := refusals_of(replies):
            raise _together(refusals)
        return [reply.value for reply in replies if isinstance(reply, Done)]

    def post(self, number: int, method: str, *arguments: object) -> None:
        """Send a command to a member, whose reply is read with that of a later one."""
        self.refuse_failed()
        sent = _pickled({number: (method, arguments, {})})[number]
        with suppress(OSError):  # the member has gone, as the next reply tells
            self.members[number].links[COMMANDS].send_bytes(sent)
        self._unanswered[number] += 1
        if self._unanswered[number] >= MOST_UNANSWERED:
            self.values(self._answers_of(number))

    # --- reads ---

    def read_all(self, method: str, *arguments: object, **named: object) -> list[Any]:
        """What all members read, beside steps."""
        command = (method, arguments, named)
        return self.values(self._replies_to(dict.fromkeys(self._numbers, command), READS))

    def read_one(self, method: str, *arguments: object, number: int = 0) -> Any:
        """What one member reads: by default the first, of what is the same on all."""
        return self.values(self._replies_to({number: (method, arguments, {})}, READS))[0]

    def give_back(self, number: int, lent: int) -> None:
        """Let a member have back what it lent, with the next read; any thread may say so."""
        self._given_back.append((number, lent))

    @property
    def owes(self) -> bool:
        """Whether members have yet to be given something back."""
        return bool(self._given_back)

    # --- messages ---

    @property
    def _numbers(self) -> range:
        return range(len(self.members))

    def _replies_to(self, commands: Mapping[int, Command], kind: str = COMMANDS) -> list[Reply]:
        """The replies to the command of each of these members, to all of which it is sent first."""
        self.refuse_failed()
        sent = _pickled(commands)
        if kind == COMMANDS:
            return self._exchanged(sent, kind)
        with self._reading:
            self._send_back()
            return self._exchanged(sent, kind)

    def _exchanged(self, commands: Mapping[int, Any], kind: str) -> list[Reply]:
        self.refuse_failed()
        try:
            for number, command in commands.items():
                with suppress(OSError):  # the member has gone: there is no reply, as is told then
                    self.members[number].links[kind].send_bytes(command)
            earlier = [r for at in commands if kind == COMMANDS for r in self._answers_of(at)]
            replies = [self._receive(number, kind) for number in commands]
        except BaseException as error:  # an interrupt: the next reply would be taken for another
            self.fail(f"a call to the members of the cluster did not end: {error!r}")
            raise
        self._note_failure([*earlier, *replies])
        if refusals := refusals_of(earlier):
            raise _together(refusals)
        return replies

    def _answers_of(self, number: int) -> list[Reply]:
        """The replies to what was posted to a member."""
        return [self._receive(number, COMMANDS) for _ in range(self._unanswered.pop(number, 0))]

    def _send_back(self) -> None:
        """Let members have back what is not used any more."""
        while self._given_back:
            number, lent = self._given_back.popleft()
            self._exchanged(_pickled({number: ("give_back", ([lent],), {})}), READS)

    def _receive(self, number: int, kind: str) -> Reply:
        try:
            reply: Reply = self.members[number].links[kind].recv()
        except (EOFError, OSError) as error:
            return broken(ConnectionError(f"member {number} has gone: {error}"))
        return reply

    def _note_failure(self, replies: Sequence[Reply]) -> None:
        for refusal in refusals_of(replies):
            if refusal.kind == PoolFailed.__name__:
                self.fail(str(refusal.argument))


def refusals_of(replies: Sequence[Reply]) -> list[Refused]:
    """The replies of members that have not done what they were told."""
    return [reply for reply in replies if isinstance(reply, Refused)]


def _pickled(commands: Mapping[int, Command]) -> dict[int, Any]:
    """The bytes of each command; equal ones are made once. Raises Unsupported."""
    made: dict[int, Any] = {}
    try:
        for command in commands.values():
            if id(command) not in made:
                made[id(command)] = ForkingPickler.dumps(command)
    except (PicklingError, AttributeError, TypeError) as error:
        raise Unsupported(
            f"a cluster's processes cannot be sent this: {error}. Define functions at the top "
            "of a module that all processes can import"
        ) from error
    return {number: made[id(command)] for number, command in commands.items()}


def _together(refusals: Sequence[Refused]) -> Exception:
    """One error for the refusals of several members; of failed dataflows, with all reasons."""
    errors = [refusal.error() for refusal in refusals]
    failed = [error for error in errors if isinstance(error, DataflowFailed)]
    if len(failed) < len(errors):
        return next(error for error in errors if not isinstance(error, DataflowFailed))
    reasons: dict[str, str] = {}
    for error in sorted(failed, key=lambda error: type(error) is DataflowFailed):
        reasons = {**error.reasons, **reasons}
    kinds = {type(error) for error in failed if type(error) is not DataflowFailed}
    return (kinds.pop() if len(kinds) == 1 else DataflowFailed)(reasons)
