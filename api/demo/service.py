"""Runs the service as a process of its own, which can be killed, and measures its memory."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO

import httpx

from ivm.errors import IvmError

START_SECONDS = 120.0
STOP_SECONDS = 30.0
SAMPLE_SECONDS = 0.5


class DemoFailed(IvmError):
    """The demo could not be told to its end."""

    code = "demo-failed"


class Service:
    """One service on one data directory; started, killed and started again."""

    def __init__(
        self, data: Path, port: int, settings: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """`settings`: further variables of its environment."""
        self.url = f"http://127.0.0.1:{port}"
        self.log = data / "service.log"
        own = {"IVM_DATA": str(data), "IVM_PORT": str(port)}
        self._environment = {**os.environ, **own, **settings}
        self._output: IO[bytes] = self.log.open("ab")
        self._process: subprocess.Popen[bytes] | None = None
        self.memory = MemoryPeak()

    def start(self, *program: str) -> None:
        """Start the process, with `program` in place of the module `api`; returns at once."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", *(program or ("api",)), "serve"],
            env=self._environment,
            stdout=self._output,
            stderr=self._output,
            start_new_session=True,
        )
        self.memory.pid = self._process.pid

    def wait_alive(self) -> None:
        """Wait until it answers at all (raises DemoFailed with the log's end)."""
        self._wait_for("/healthz")

    def wait_ready(self) -> None:
        """Wait until it answers that it is ready (raises DemoFailed with the log's end)."""
        self._wait_for("/readyz")

    def _wait_for(self, path: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        said = "nothing"
        while time.monotonic() < deadline and self.is_running:
            try:
                answer = httpx.get(f"{self.url}{path}", timeout=5)
            except httpx.TransportError as error:
                said = str(error)
            else:
                if answer.status_code == httpx.codes.OK:
                    return
                said = answer.text
            time.sleep(0.1)
        raise DemoFailed(f"{path} of the service: {said}; {self.log} ends:\n{self.tail()}")

    @property
    def pid(self) -> int:
        """The process that was started last."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL to the process and all its descendants, the JVM included."""
        assert self._process is not None
        for pid in descendants(self._process.pid):
            _kill(pid)
        self._process.wait()

    def stop(self) -> None:
        """Ask it to stop, and kill its processes that do not."""
        self.memory.stop()
        if self._process is not None and self.is_running:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        self._output.close()

    def tail(self) -> str:
        """The last lines of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


class MemoryPeak:
    """Samples the memory of a process and its descendants: the greatest sum seen, in bytes.

    A sample holds up a process with much memory for some milliseconds.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.pid = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory", daemon=True)

    def start(self) -> None:
        """Sample from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Sample no more."""
        self._stopped.set()

    def now(self) -> int:
        """The sum at this moment."""
        return sum(map(_memory, descendants(self.pid)))

    def _run(self) -> None:
        while not self._stopped.wait(SAMPLE_SECONDS):
            self.bytes = max(self.bytes, self.now())


def descendants(pid: int) -> list[int]:
    """`pid` and all processes below it."""
    children: dict[int, list[int]] = {}
    for each, parent in _parents().items():
        children.setdefault(parent, []).append(each)
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def _parents() -> Mapping[int, int]:
    parents: dict[int, int] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(directory.name)] = int(fields[1])
    return parents


def _memory(pid: int) -> int:
    """Resident bytes of a process, shared pages divided among those that share them."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    lines = [line for line in rollup.splitlines() if line.startswith("Pss:")]
    return int(lines[0].split()[1]) * 1024 if lines else 0


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
