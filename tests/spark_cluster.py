"""Spark standalone as processes: a master, and workers that start executors."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from api.demo.ports import free_ports
from api.demo.service import descendants
from tests.kafka.java import await_true

EXECUTOR = "CoarseGrainedExecutorBackend"


class SparkCluster:
    """A master in `directory`, and workers of so many cores each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []
        self._directory.mkdir(parents=True, exist_ok=True)
        [port] = free_ports(1)
        self.master = f"spark://127.0.0.1:{port}"
        log = self._start("master", "master", "--host", "127.0.0.1", "--port", str(port))
        await_true("the master of Spark", lambda: "I have been elected leader" in _read(log))

    @classmethod
    @contextmanager
    def started(cls, directory: Path, *, workers: int, cores: int) -> Iterator[Self]:
        """A cluster with these workers, which is ended in the end."""
        cluster = cls(directory)
        try:
            for _ in range(workers):
                cluster.add_worker(cores)
            yield cluster
        finally:
            cluster.stop()

    def add_worker(self, cores: int) -> int:
        """Start a worker, and wait until the master knows it; its process id."""
        name = f"worker{len(self._processes)}"
        options = ("--host", "127.0.0.1", "--cores", str(cores), "--memory", "2g")
        work = str(self._directory / name)
        log = self._start(name, "worker", self.master, *options, "--work", work)
        await_true(name, lambda: "Successfully registered" in _read(log))
        return self._processes[-1].pid

    def kill_worker(self, number: int) -> None:
        """Kill a worker, counted from 0 with those killed before, and its executors."""
        kill(self._processes[1 + number].pid)

    def executors(self) -> list[int]:
        """The process ids of all executors."""
        found = [pid for worker in self._processes[1:] for pid in descendants(worker.pid)]
        return [pid for pid in found if EXECUTOR in _command(pid)]

    def stop(self) -> None:
        """End all processes, the workers with their executors first."""
        for process in reversed(self._processes):
            kill(process.pid)
            process.wait()

    def _start(self, name: str, *arguments: str) -> Path:
        """Start a process of Spark's, and return the file of its log."""
        log = self._directory / f"{name}.log"
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [sys.executable, "-m", "connectors.spark.standalone", *arguments]
        with log.open("wb") as output:
            self._processes.append(
                subprocess.Popen(command, env=environment, stdout=output, stderr=output)
            )
        return log


def _read(log: Path) -> str:
    return log.read_text(errors="replace")


def kill(pid: int) -> None:
    """SIGKILL to a process and all below it."""
    for each in descendants(pid):
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
