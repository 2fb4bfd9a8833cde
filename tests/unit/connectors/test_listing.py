"""A listing is what is there now, however fast a directory changes."""

import os
from pathlib import Path

import pytest

from connectors.files.listing import Listing


def test_each_change_is_seen_at_once(tmp_path: Path) -> None:
    found = Listing(tmp_path / "topic")
    assert found.names() == ()
    (tmp_path / "topic").mkdir()
    for n in range(200):
        (tmp_path / "topic" / str(n)).touch()
        assert len(found.names()) == n + 1
    (tmp_path / "topic" / "0").unlink()
    assert len(found.names()) == 199


def test_a_directory_that_has_not_changed_for_a_while_is_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "0").touch()
    os.utime(tmp_path, (1.0, 1.0))
    found = Listing(tmp_path)
    assert found.names() == ["0"]
    monkeypatch.setattr(Path, "iterdir", lambda _: [Path("listed anew")])
    assert found.names() == ["0"]
    (tmp_path / "1").touch()
    assert found.names() == ["listed anew"]
