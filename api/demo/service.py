"""The service as a process of its own, and what the demo asks of it over HTTP."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

PAGE = os.sysconf("SC_PAGE_SIZE")


class ServiceFailed(Exception):
    """The service did not do what the demo needs; the message ends with its log."""


class Service:
    """`python -m api serve` on its own data directory and a free port, with all its children."""

    def __init__(self, data: Path, topics: Path) -> None:
        self.topics = topics
        self._log = data / "service.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._environment = os.environ | {
            "IVM_DATA": str(data),
            "IVM_TOPICS": str(topics),
            "IVM_PORT": str(port),
        }
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120)
        self._process: subprocess.Popen[bytes] | None = None
        self.peak_bytes = 0
        self._watching = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watching.set()
        self.http.close()
        self.kill()

    def start(self) -> float:
        """Start it and wait until it is ready; returns the seconds that took."""
        began = time.monotonic()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "api", "serve"],
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() - began > 120:
                raise ServiceFailed(f"the service did not get ready:\n{self._tail()}")
            self._watching.wait(0.05)
        return time.monotonic() - began

    def kill(self) -> None:
        """SIGKILL to the whole process group: service, JVM and Python workers."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """PUT `body` and return the answer's JSON (raises ServiceFailed for an error)."""
        answer = self.http.put(path, json=body)
        if not answer.is_success:
            raise ServiceFailed(f"PUT {path}: {answer.status_code} {answer.text}\n{self._tail()}")
        return answer.json()

    def get(self, path: str) -> Any:
        """The JSON of `path` (raises ServiceFailed for an error)."""
        answer = self.http.get(path)
        if not answer.is_success:
            raise ServiceFailed(f"GET {path}: {answer.status_code} {answer.text}\n{self._tail()}")
        return answer.json()

    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process is not None and self._process.poll() is None

    def _is_ready(self) -> bool:
        try:
            return self.http.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-40:])

    def _watch(self) -> None:
        while not self._watching.wait(0.5):
            process = self._process
            if process is not None:
                self.peak_bytes = max(self.peak_bytes, group_bytes(process.pid))


def group_bytes(group: int) -> int:
    """Resident bytes of all processes in a process group, shared pages counted in each."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                total += int((entry / "statm").read_text().split()[1]) * PAGE
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total
