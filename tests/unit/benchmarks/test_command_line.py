"""`python -m benchmarks`: what it says to bad arguments."""

import shutil
import subprocess
import sys

import pytest

from benchmarks.errors import BenchmarkError
from benchmarks.sides import PEERS


def refused(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return " ".join(done.stderr.split())


def test_an_unknown_workload_is_refused_with_the_names_there_are() -> None:
    assert "no workload bsf: there are arrange, install, count" in refused("bsf")


def test_an_unknown_scale_is_refused_with_those_there_are() -> None:
    assert "bfs has no scale 'huge', but tiny, small, full" in refused("bfs", "--scale", "huge")


def test_an_unknown_peer_is_refused_with_those_there_are() -> None:
    assert (
        "no peer 'spark': there are ivm, differential, dbsp, pathway, duckdb, rustworkx"
        in refused("bfs", "--peer", "spark")
    )


def test_a_workload_that_a_peer_does_not_have_is_refused_with_those_it_has() -> None:
    said = refused("scc", "--peer", "dbsp")
    assert "scc: not offered for dbsp, which has bfs, count, reach" in said


def test_a_peer_without_its_compiler_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BenchmarkError, match="cargo is needed to build the peer `differential`"):
        PEERS["differential"].prepare()


def test_what_cannot_be_grown_is_refused_with_what_can() -> None:
    said = refused("growth", "reach")
    assert "reach: only arrange, bfs, wcc, scc, interactive, tpch can be grown" in said


def test_rounds_at_an_unknown_scale_are_refused_with_those_there_are() -> None:
    assert "rounds has no scale 'huge', but tiny, small, full" in refused(
        "rounds", "--scale", "huge"
    )


def test_streams_beside_an_unknown_peer_are_refused_with_those_there_are() -> None:
    said = refused("streams", "--peer", "dbsp")
    assert "no peer 'dbsp' in streams: there are flink, pathway, bytewax" in said
