"""Feeds of changes read to their end, while something is done each time they wait for more."""

import asyncio
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, cast

from fastapi.testclient import TestClient
from httpx import Response

# A feed waits after so many seconds, however slow the machine is.
SECONDS = 60
BETWEEN = 0.005


def followed(client: TestClient, path: str, *deeds: Callable[[], Any], **headers: str) -> Response:
    """All of a feed; one deed after another is done once it has told what there is.

    The last one ends the feed.
    """
    published = cast(Any, client.app).state.published

    def do() -> None:
        told: asyncio.Event | None = None
        for deed in deeds:
            until = monotonic() + SECONDS
            while (event := published.next()) is told or not event._waiters:
                if monotonic() > until:
                    raise TimeoutError(f"{path} does not wait for changes")
                pause.wait(BETWEEN)
            told = event
            deed()

    pause = threading.Event()
    doing = threading.Thread(target=do)
    doing.start()
    found: Response = client.get(path, headers=headers)
    doing.join()
    return found
