"""Compiling inputs and judging what comes of each."""

import faulthandler
import signal
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType

from ivm.errors import IvmError
from tests.fuzz.inputs import made
from tests.property.shop import CATALOG
from views.catalog import Language
from views.compile import compile_view
from views.explain import explain

SECONDS = 5.0
"""An input that takes more of the processor's time hangs."""
_STUCK_SECONDS = 120.0
_EXPLAINED = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that crashed or hung: `what` happened, and `where`, which is one for one fault."""

    language: Language
    number: int
    what: str
    where: str
    text: str


class Hang(BaseException):
    """The time for one input is over; no `except Exception` catches it."""


def judge(language: Language, seed: int, numbers: Iterable[int]) -> tuple[list[Finding], int]:
    """What is wrong among the inputs `numbers`, and how many of them were views.

    Runs on the main thread, whose signals tell the time. A process that is stuck where no signal
    reaches it dies with a traceback.
    """
    signal.signal(signal.SIGPROF, _alarmed)
    findings, views = [], 0
    for number in numbers:
        text = made(language, seed, number)
        faulthandler.dump_traceback_later(_STUCK_SECONDS, exit=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            compile_view(text, CATALOG, language=language)
            if number % _EXPLAINED == 0:
                explain(text, CATALOG, (), language)
            views += 1
        except IvmError:
            pass
        except Hang:
            findings.append(Finding(language, number, "hang", f"beyond {SECONDS} s", text))
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{frame.filename}:{frame.lineno}"
            findings.append(Finding(language, number, repr(error)[:200], where, text))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
    return findings, views


def _alarmed(signum: int, frame: FrameType | None) -> None:
    raise Hang
