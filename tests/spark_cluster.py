"""Spark standalone as processes: a master, and workers that start executors."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import pyspark

from api.demo.service import descendants
from tests.kafka.java import await_true

EXECUTOR = "CoarseGrainedExecutorBackend"
HOME = Path(next(iter(pyspark.__path__)))
_MASTER = re.compile(r"Starting Spark master at (spark://[\w.:]+)")


class SparkCluster:
    """A master in `directory`, and workers of so many cores each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []
        self._directory.mkdir(parents=True, exist_ok=True)
        options = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self._log = self._start("master", "master.Master", *options)
        await_true("the master of Spark", lambda: self._found() is not None)
        self.master = self._found() or ""

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
        work = str(self._directory / name)
        options = ("--host", "127.0.0.1", "--cores", str(cores), "--memory", "2g")
        more = ("--webui-port", "0", "--work-dir", work, self.master)
        log = self._start(name, "worker.Worker", *options, *more)
        await_true(name, lambda: "Successfully registered" in log.read_text(errors="replace"))
        return self._processes[-1].pid

    def kill_worker(self, number: int) -> None:
        """Kill a worker, counted from 0 with those killed before, and its executors."""
        kill(self._processes[1 + number].pid)

    def kill_master(self) -> None:
        """Kill the master alone: what it has started goes on."""
        self._processes[0].kill()

    def executors(self) -> list[int]:
        """The process ids of all executors."""
        found = [pid for worker in self._processes[1:] for pid in descendants(worker.pid)]
        return [pid for pid in found if EXECUTOR in _command(pid)]

    def stop(self) -> None:
        """End all processes, the workers with their executors first."""
        for process in reversed(self._processes):
            kill(process.pid)
            process.wait()

    def _found(self) -> str | None:
        found = _MASTER.search(self._log.read_text(errors="replace"))
        return found[1] if found is not None else None

    def _start(self, name: str, main: str, *options: str) -> Path:
        """Start a process of Spark's, and return the file of its log."""
        log = self._directory / f"{name}.log"
        environment = {
            **os.environ,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
        }
        program = str(HOME / "bin" / "spark-class")
        command = [program, f"org.apache.spark.deploy.{main}", *options]
        with log.open("wb") as output:
            self._processes.append(
                subprocess.Popen(command, env=environment, stdout=output, stderr=output)
            )
        return log


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
