"""Whatever is asked, no answer is a 500, and each has a status and a form that OpenAPI describes.

Requests are made of the description by Schemathesis, such as it allows and such as it does not, and
of its examples, with members that are odd or away.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.app import ROUTERS
from api.runtime import Runtime
from api.settings import Settings
from tests.unit.api.conftest import ORDERS, TOTALS
from tests.unit.api.filed import FilePipeline, pipeline_of, write_rows
from tests.unit.api.listening import served

EXAMPLES = 25
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
PEOPLE = {
    "connector": "http",
    "columns": [{"name": "id", "type": "bigint"}, {"name": "city", "type": "text"}],
    "key": ["id"],
}
THERE = {"sources/orders": ORDERS, "sources/people": PEOPLE, "views/totals": TOTALS}
# Values of paths that name what is there.
NAMES: dict[str, list[dict[str, Any]]] = {
    "/v1/sources": [{"name": "orders"}, {"name": "people"}],
    "/v1/views": [{"name": "totals"}],
    "/v1/quarantine": [{"table": "orders", "partition": 0, "offset": 0}],
}
TEXTS = ["", " ", "\x00", "\ud800", "é", "'", '"', "a" * 300, "1e999", "-1", "orders", "id"]
NUMBERS = [0, -1, 1, 2**31, 2**63, 2**64, 10**30, 1.5, -0.0, 1e308]
NAME = st.sampled_from(TEXTS) | st.text(max_size=5)
ODD = st.recursive(
    st.sampled_from([None, True, False, *NUMBERS]) | NAME,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=4,
)
OPERATIONS = [
    f"{method} {route.path}"
    for module in ROUTERS
    for route in module.router.routes
    for method in sorted(route.methods)
]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a service with two tables, a view, and a record in quarantine."""
    given = Settings(
        data=tmp_path,
        workers=1,
        on_error="quarantine",
        checkpoint_seconds=1e6,
        wait_seconds=0.01,
        max_query_seconds=1,
        max_recursion_seconds=1,
        max_hydration_seconds=1,
    )
    runtime = Runtime(given, cast(Any, FilePipeline))
    with (
        served(runtime) as (host, port),
        httpx.Client(base_url=f"http://{host}:{port}", timeout=60) as client,
    ):
        for name, body in THERE.items():
            client.put(f"/v1/{name}", json=body).raise_for_status()
        write_rows(tmp_path, "orders", ({"id": "none"}, 1), ({"id": 1, "customer": "ada"}, 1))
        pipeline_of(runtime).step()
        assert client.get("/v1/quarantine/orders/0/0").json()["status"] == "open"
        yield client


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_answer_is_as_described(asked: httpx.Client, label: str) -> None:
    document = asked.get("/openapi.json").json()
    operation = schemathesis.openapi.from_dict(document).find_operation_by_label(label)
    assert operation is not None

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @given(cases(operation, document))
    def judge(case: Case) -> None:
        answer = ask(asked, case)
        if answer is not None:
            case.validate_response(answer, checks=CHECKS)

    judge()


def ask(asked: httpx.Client, case: Case) -> httpx.Response | None:
    """The answer to a request; None if it cannot be sent, or its answer has no end."""
    sent = case.as_transport_kwargs(base_url=str(asked.base_url))
    try:
        request = asked.build_request(
            sent["method"],
            sent["url"],
            params=sent["params"],
            headers=sent["headers"],
            json=sent.get("json"),
            content=sent.get("data"),
        )
    except UnicodeEncodeError:
        return None
    answer = asked.send(request, stream=True)
    if answer.is_success and case.operation.path.endswith("/changes"):
        answer.close()
        return None
    answer.read()
    return answer


def cases(operation: APIOperation, document: dict[str, Any]) -> st.SearchStrategy[Case]:
    """Requests to an operation, many of them to what is there."""
    is_named = "{" in operation.path
    names = [at for root, found in NAMES.items() if operation.path.startswith(root) for at in found]
    places: list[dict[str, Any] | None] = [None, *(names if is_named else [])]
    examples = examples_of(operation, document)
    made = [
        operation.as_strategy(mode, path_parameters=place)
        for mode in GenerationMode
        for place in places
    ]
    made += [
        st.builds(with_body, operation.as_strategy(path_parameters=place), spoilt(examples))
        for place in places
        if examples
    ]
    return st.one_of(made)


def examples_of(operation: APIOperation, document: dict[str, Any]) -> list[Any]:
    """The examples of an operation's body, if it is one of JSON with a model."""
    described = document["paths"][operation.path][operation.method].get("requestBody", {})
    schema = described.get("content", {}).get("application/json", {}).get("schema", {})
    model = schema.get("$ref", "").rpartition("/")[2]
    found: list[Any] = document["components"]["schemas"].get(model, {}).get("examples", [])
    return found


@st.composite
def spoilt(draw: st.DrawFn, examples: Sequence[Any]) -> Any:
    """An example of a body, up to two of whose members are odd, or away."""
    body = deepcopy(draw(st.sampled_from(examples)))
    for _ in range(draw(st.integers(0, 2))):
        if not (found := list(members(body))):
            return draw(ODD)
        holder, key = draw(st.sampled_from(found))
        if draw(st.booleans()):
            holder[key] = draw(ODD)
        else:
            del holder[key]
    return body


def members(body: Any) -> Iterator[tuple[Any, Any]]:
    """Each member of a JSON value, as its holder and its key."""
    if isinstance(body, dict | list):
        for key, value in body.items() if isinstance(body, dict) else enumerate(body):
            yield body, key
            yield from members(value)


def with_body(case: Case, body: Any) -> Case:
    case.body = body
    case.media_type = "application/json"
    return case
