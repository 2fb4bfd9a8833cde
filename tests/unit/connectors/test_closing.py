"""What holds files by their numbers closes them once: a number may soon be another file's."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from connectors.files.requests import WrittenTopic
from connectors.files.writer import TopicWriter
from connectors.progress.journal import Journal


class Closing(Protocol):
    def close(self) -> None: ...


HOLDERS: dict[str, Callable[[Path], Closing]] = {
    "a journal": lambda path: Journal(path / "journal"),
    "a topic's writer": lambda path: TopicWriter(path, "orders"),
    "a topic of posted rows": lambda path: WrittenTopic(path, "orders"),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_closing_it_again_closes_no_file_of_others(
    holder: Callable[[Path], Closing], tmp_path: Path
) -> None:
    before = open_files()
    held = holder(tmp_path)
    numbers = open_files() - before
    held.close()
    others = [os.open(tmp_path, os.O_RDONLY) for _ in numbers]
    assert set(others) == numbers
    held.close()
    for other in others:
        os.close(other)


def open_files() -> set[int]:
    """The numbers of the files that are open, but for that of looking."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            os.fstat(int(link.name))
        except OSError:
            continue
        found.add(int(link.name))
    return found
