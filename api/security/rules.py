"""Rules: the role and the grant that each operation needs; an operation without a rule is an error.

A rule says what of the grant is looked at: the `name` in the path, that it is on `all`, or nothing,
where the operation itself leaves out or refuses what the grant does not cover (`inside`).
"""

from collections.abc import Iterable
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute

from api.security.principal import Principal, Role

Looks = Literal["name", "all", "inside"]

READ, WRITE, ADMIN = Role.read, Role.write, Role.admin

# What who is not known may ask: probes have no key, and the root leads to the console.
OPEN = frozenset({"/", "/healthz", "/readyz"})

# The console does what REST does for an admin, by calls of its own.
CONSOLE = "/console/"

RULES: dict[tuple[str, str], tuple[Role, Looks]] = {
    ("GET", "/metrics"): (READ, "all"),
    ("GET", "/v1/sources"): (READ, "inside"),
    # It shows values of whatever topic there is.
    ("POST", "/v1/sources/infer"): (ADMIN, "all"),
    ("GET", "/v1/sources/{name}"): (READ, "name"),
    ("PUT", "/v1/sources/{name}"): (ADMIN, "all"),
    ("DELETE", "/v1/sources/{name}"): (ADMIN, "all"),
    ("POST", "/v1/sources/{name}/rows"): (WRITE, "name"),
    ("GET", "/v1/views"): (READ, "inside"),
    ("GET", "/v1/views/{name}"): (READ, "name"),
    ("PUT", "/v1/views/{name}"): (ADMIN, "all"),
    ("DELETE", "/v1/views/{name}"): (ADMIN, "all"),
    ("POST", "/v1/views/{name}/rename"): (ADMIN, "all"),
    ("POST", "/v1/views/{name}/retry"): (ADMIN, "all"),
    ("GET", "/v1/views/{name}/replacement"): (ADMIN, "all"),
    ("POST", "/v1/views/{name}/approve"): (ADMIN, "all"),
    ("POST", "/v1/views/{name}/discard"): (ADMIN, "all"),
    ("GET", "/v1/views/{name}/rows"): (READ, "name"),
    ("GET", "/v1/views/{name}/changes"): (READ, "name"),
    ("GET", "/v1/views/{name}/operators"): (READ, "name"),
    ("POST", "/v1/query"): (READ, "inside"),
    ("POST", "/v1/explain"): (READ, "inside"),
    ("GET", "/v1/arrangements"): (READ, "all"),
    ("GET", "/v1/cluster"): (READ, "all"),
    ("GET", "/v1/errors"): (READ, "all"),
    # Records that could not be decoded may hold anything about anybody.
    ("GET", "/v1/backup"): (ADMIN, "all"),
    ("GET", "/v1/quarantine"): (ADMIN, "all"),
    ("POST", "/v1/quarantine/replay"): (ADMIN, "all"),
    ("POST", "/v1/quarantine/purge"): (ADMIN, "all"),
    ("GET", "/v1/quarantine/{table}/{partition}/{offset}"): (ADMIN, "all"),
    ("PUT", "/v1/quarantine/{table}/{partition}/{offset}"): (ADMIN, "all"),
    ("POST", "/v1/quarantine/{table}/{partition}/{offset}/replay"): (ADMIN, "all"),
    ("POST", "/v1/quarantine/{table}/{partition}/{offset}/discard"): (ADMIN, "all"),
    ("POST", "/v1/quarantine/{table}/{partition}/{offset}/skip"): (ADMIN, "all"),
}


async def authorize(request: Request) -> None:
    """Refuse what the rule of the operation does not let the principal do (raises Forbidden)."""
    path: str = request.scope["route"].path
    if path in OPEN:
        return
    role, looks = RULES[request.method, path]
    principal: Principal = request.state.principal
    principal.demand(role)
    if looks == "all":
        principal.demand_all()
    elif looks == "name":
        principal.demand_use([request.path_params["name"]])


def check(routers: Iterable[APIRouter]) -> None:
    """Check that each operation of the routers has a rule, and each rule an operation."""
    operations = {
        (method, route.path)
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and route.path not in OPEN
        for method in route.methods or ()
    }
    if odd := operations ^ RULES.keys():
        raise AssertionError(f"operations and rules differ: {sorted(odd)}")
