"""Liveness, readiness and metrics."""

from dataclasses import asdict

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.answers import Alive, Ready
from api.deps import RuntimeDep, answer
from api.problems import problem

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=Alive)
async def healthz() -> Response:
    """200 while the process serves."""
    return answer(Alive(status="alive"))


@router.get("/readyz", response_model=Ready)
def readyz(runtime: RuntimeDep) -> Response:
    """200 once the service has caught up and while the pipeline runs, else 503 with the reason.

    It has once the journal is replayed, and every source has read what its topic held when it was
    declared. Where it is not ready, `faults` names each part that is at fault, or still reads, the
    setting to look at, and what is wrong.
    """
    faults = [*runtime.readiness.faults(), *runtime.readiness.catching_up().values()]
    if faults:
        detail = "; ".join(fault.detail for fault in faults)
        return problem(503, "not-ready", detail, faults=[asdict(fault) for fault in faults])
    return answer(Ready(status="ready", time=runtime.pool.frontier - 1))


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> Response:
    """All metrics in Prometheus' text format."""
    content = generate_latest(request.app.state.metrics)
    return Response(content, media_type=CONTENT_TYPE_LATEST)
