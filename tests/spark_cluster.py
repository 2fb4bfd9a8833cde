"""Spark standalone as processes: a master, and workers that start executors."""

import os
import re
import shutil
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
# A new master is alive at once, one that comes back once it has found again what it knew.
_PLACES = re.compile("New state: ALIVE|Recovery complete")


class SparkCluster:
    """A master in `directory`, and workers of so many cores each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._workers: list[subprocess.Popen[bytes]] = []
        self._directory.mkdir(parents=True, exist_ok=True)
        [self._port] = free_ports(1)
        self.master = f"spark://127.0.0.1:{self._port}"
        self.start_master()

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

    def start_master(self) -> None:
        """Start the master, for the first time or again, and wait until it places executors."""
        recovery = str(self._directory / "recovery")
        options = ("--host", "127.0.0.1", "--port", str(self._port), "--recovery", recovery)
        self._master, log = self._start("master", "master", *options)
        await_true("the master of Spark", lambda: _PLACES.search(_read(log)))

    def kill_master(self) -> None:
        """Kill the master alone; workers and executors go on."""
        self._master.kill()
        self._master.wait()

    def forget(self) -> None:
        """Let the next master know nothing of what was there before."""
        shutil.rmtree(self._directory / "recovery")

    def add_worker(self, cores: int) -> int:
        """Start a worker, and wait until the master knows it; its process id."""
        name = f"worker{len(self._workers)}"
        options = ("--host", "127.0.0.1", "--cores", str(cores), "--memory", "2g")
        work = str(self._directory / name)
        worker, log = self._start(name, "worker", self.master, *options, "--work", work)
        self._workers.append(worker)
        await_true(name, lambda: "Successfully registered" in _read(log))
        return worker.pid

    def kill_worker(self, number: int) -> None:
        """Kill a worker, counted from 0 with those killed before, and its executors."""
        kill(self._workers[number].pid)

    def executors(self) -> list[int]:
        """The process ids of all executors."""
        found = [pid for worker in self._workers for pid in descendants(worker.pid)]
        return [pid for pid in found if EXECUTOR in _command(pid)]

    def stop(self) -> None:
        """End all processes, the workers with their executors first."""
        for process in (*self._workers, self._master):
            kill(process.pid)
            process.wait()

    def _start(self, name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        """A process of Spark's that was started, and the file of its log."""
        log = self._directory / f"{name}.log"
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [sys.executable, "-m", "connectors.spark.standalone", *arguments]
        with log.open("wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        return process, log


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
