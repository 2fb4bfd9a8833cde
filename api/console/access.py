"""Access: the services of one running service, which the pages of the console show and change."""

from dataclasses import dataclass

from api.console.history import History
from api.large import LargeAnswers
from api.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Access:
    """A runtime, the threads that REST's large answers and queries are made by, and its history."""

    runtime: Runtime
    large: LargeAnswers
    asked: LargeAnswers
    history: History
