"""Routes that hand the request to their operation directly.

FastAPI resolves the parameters and dependencies of an operation anew for each request, in more time
than a look-up takes. An operation of a direct route is described, secured and reported at fault as
all others are, and reads what it is asked by itself.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from api.security.rules import authorize


class DirectRoute(APIRoute):
    """A route whose operation takes the texts in its path and, as `request`, the request."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Call the operation, once it is known to be allowed (raises Forbidden)."""

        async def handle(request: Request) -> Response:
            await authorize(request)
            response: Response = await self.endpoint(request=request, **request.path_params)
            return response

        return handle
