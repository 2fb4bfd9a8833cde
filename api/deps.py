"""Dependencies of handlers, and the form of their answers."""

from typing import Annotated

import orjson
from fastapi import Depends, Request, Response

from api.answers.base import Answer
from api.followers import Followers
from api.large import LargeAnswers
from api.runtime import Runtime
from api.security.principal import Principal
from api.signals import Signal


async def _runtime(request: Request) -> Runtime:
    runtime: Runtime = request.app.state.runtime
    return runtime


async def _published(request: Request) -> Signal:
    signal: Signal = request.app.state.published
    return signal


async def _followers(request: Request) -> Followers:
    followers: Followers = request.app.state.followers
    return followers


async def _large(request: Request) -> LargeAnswers:
    large: LargeAnswers = request.app.state.large
    return large


async def _asked(request: Request) -> LargeAnswers:
    asked: LargeAnswers = request.app.state.asked
    return asked


async def _principal(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


RuntimeDep = Annotated[Runtime, Depends(_runtime)]
FollowersDep = Annotated[Followers, Depends(_followers)]
LargeDep = Annotated[LargeAnswers, Depends(_large)]
AskedDep = Annotated[LargeAnswers, Depends(_asked)]
"""Answers to queries, on threads of their own: a long one keeps no look-up waiting."""
PublishedDep = Annotated[Signal, Depends(_published)]
PrincipalDep = Annotated[Principal, Depends(_principal)]


def answer(value: Answer, status: int = 200) -> Response:
    """`value` as JSON; members that it was not given are left out."""
    body = orjson.dumps(value.model_dump(exclude_unset=True), option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, media_type="application/json")
