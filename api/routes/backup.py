"""`/v1/backup`: all that the service keeps, as of one moment, in an archive."""

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from api.deps import RuntimeDep

router = APIRouter(prefix="/v1/backup", tags=["backup"])
TAR = "application/x-tar"


@router.get(
    "",
    response_class=StreamingResponse,
    responses={200: {"content": {TAR: {"schema": {"type": "string", "format": "binary"}}}}},
)
def get_backup(runtime: RuntimeDep) -> StreamingResponse:
    """A consistent copy while the service runs, which `ivm restore` fills a directory from.

    An archive whose last entry is not `complete` is not whole.
    """
    return StreamingResponse(runtime.backups.take().archive(), media_type=TAR)
