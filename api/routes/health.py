"""Liveness, readiness and metrics."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.answers.health import Alive, Fault, Ready
from api.deps import RuntimeDep, answer
from api.problems import problem
from connectors.health import PartFault

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=Alive)
async def healthz() -> Response:
    """200 while the process serves."""
    return answer(Alive(status="alive"))


@router.get("/readyz", response_model=Ready)
def readyz(runtime: RuntimeDep, request: Request) -> Response:
    """200 once the service has caught up and while the pipeline runs, else 503 with the reason.

    It has once the journal is replayed, and every source has read what its topic held when it was
    declared. Where it is not ready, `faults` names each part that is at fault, or still reads, the
    setting to look at, and what is wrong. Either way, `stalled` names the sources that stand still
    while others go on, if there are any. Who is not known is told the status alone.
    """
    readiness = runtime.readiness
    if request.state.principal is None:
        if readiness.waits():
            return problem(503, "not-ready", "the service is not ready; send a key to see why")
        return answer(Ready(status="ready", time=runtime.pool.frontier - 1))
    faults, stalled = readiness.waits(), [_told(fault) for fault in readiness.stalled().values()]
    if faults:
        detail = "; ".join(fault.detail for fault in faults)
        told = [_told(fault) for fault in faults]
        return problem(503, "not-ready", detail, faults=told, stalled=stalled or None)
    more = {"stalled": [Fault(**fault) for fault in stalled]} if stalled else {}
    return answer(Ready(status="ready", time=runtime.pool.frontier - 1, **more))


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """All metrics in Prometheus' text format."""
    content = generate_latest(request.app.state.metrics)
    return Response(content, media_type=CONTENT_TYPE_LATEST)


def _told(fault: PartFault) -> dict[str, Any]:
    """A fault without how far it is, if that is not known."""
    found = asdict(fault)
    return {name: found[name] for name in found if name == "setting" or found[name] is not None}
