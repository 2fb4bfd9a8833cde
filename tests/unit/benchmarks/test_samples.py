"""Processor time is divided among the files whose code spends it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from api.demo.service import descendants
from benchmarks.pipeline.samples import KERNEL, PYTHON, sampled, spent

BUSY = "while True: sum(range(1000))"


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_a_loop_in_python_spends_its_time_there(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        with sampled(lambda: {"busy": [process.pid]}, frozenset(), tmp_path / "perf") as found:
            before = spent(process.pid).user
            while spent(process.pid).user - before < 0.3:
                time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    seconds = found.seconds["busy"]
    assert seconds.pop(KERNEL) < 0.3
    assert seconds[PYTHON] > 0.8 * sum(seconds.values())
    assert sum(seconds.values()) >= 0.3


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_what_a_process_forks_meanwhile_is_counted(tmp_path: Path) -> None:
    fork = f"import os\nwhile not os.path.exists({str(tmp_path / 'go')!r}): pass\nos.fork()\n{BUSY}"
    process = subprocess.Popen([sys.executable, "-c", fork], start_new_session=True)
    try:
        with sampled(
            lambda: {"all": descendants(process.pid)}, frozenset(), tmp_path / "p"
        ) as found:
            (tmp_path / "go").touch()
            while len(descendants(process.pid)) < 2:
                time.sleep(0.01)
            child = max(descendants(process.pid))
            while spent(child).user < 0.3:
                time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert sum(found.seconds["all"].values()) >= 0.5


def test_a_process_that_has_ended_spends_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert spent(process.pid).user == 0
