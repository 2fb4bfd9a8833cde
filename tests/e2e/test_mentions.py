"""The mentions' demonstration, small: made up and from a file, verified at random cuts."""

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest


def run(tmp_path: Path, *arguments: str) -> Any:
    figures = tmp_path / "figures.json"
    command = [sys.executable, "-m", "api", "mentions", *arguments, "--json", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "top hashtag" in done.stdout
    report = orjson.loads(figures.read_bytes())
    assert report["verified"]
    assert not any(cut["faults"] for cut in report["cuts"])
    return report


@pytest.mark.jvm
def test_a_window_moves_both_ways_over_mentions_that_are_made_up(tmp_path: Path) -> None:
    report = run(tmp_path, "--window", "120", "--per-second", "10", "--steps", "40", "--pace", "20")
    assert report["mentions"] > 1_200
    assert report["components"] > 5
    assert report["latency_p99"] > 0
    assert len({tuple(cut["window"]) for cut in report["cuts"]}) > 1


@pytest.mark.jvm
def test_a_file_of_mentions_is_followed_by_the_names_in_it(tmp_path: Path) -> None:
    chance = Random(7)
    file = tmp_path / "mentions.csv"
    lines = ["user,mentions,hashtag,time"]
    for second in range(1_357_473_600, 1_357_473_660):
        for _ in range(3):
            author, *others = chance.sample(["ann", "bob", "carol", "dan", "eve"], 3)
            tag = chance.choice(["#tea", "#cup", ""])
            lines.append(f"{author},{' '.join(others)},{tag},{second}")
    file.write_text("\n".join(lines))
    report = run(tmp_path, str(file), "--window", "20", "--steps", "20", "--pace", "20")
    assert report["users"] == 5
    assert report["largest"] == 5
