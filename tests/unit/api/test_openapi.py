"""OpenAPI describes every answer: its schema, an example, and problems in their own media type."""

from typing import Any

from tests.unit.api.described import models_of


def answers(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The content of every answer by operation and status; those without a body are left out."""
    return {
        f"{method} {path} {status}": response["content"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for status, response in operation["responses"].items()
        if status not in ("204", "304")
    }


def test_every_answer_in_json_has_a_model_whose_example_is_one(document: dict[str, Any]) -> None:
    found = [c["application/json"] for c in answers(document).values() if "application/json" in c]
    assert found
    for model in (model for content in found for model in models_of(content)):
        examples = document["components"]["schemas"][model.__name__]["examples"]
        for example in examples:
            model.model_validate(example)


def test_every_operation_may_answer_a_problem_document(document: dict[str, Any]) -> None:
    problems = {at: c for at, c in answers(document).items() if at.endswith(" default")}
    assert len(problems) == sum(len(operations) for operations in document["paths"].values())
    for content in problems.values():
        assert list(content) == ["application/problem+json"]


def test_the_change_feed_is_described_as_an_event_stream(document: dict[str, Any]) -> None:
    content = answers(document)["get /v1/views/{name}/changes 200"]
    assert list(content) == ["text/event-stream", "application/vnd.apache.arrow.stream"]
    assert "event: changes" in content["text/event-stream"]["example"]


def test_every_parameter_of_a_query_is_explained(document: dict[str, Any]) -> None:
    found = [
        (path, parameter["name"], parameter.get("description"))
        for path, operations in document["paths"].items()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    assert {name for _, name, _ in found} >= {"limit", "cursor", "scan", "at_least", "since"}
    assert [one for one in found if not one[2]] == []


def test_bodies_have_examples(document: dict[str, Any]) -> None:
    for name in ("SourceBody", "ViewBody", "ExplainBody"):
        assert document["components"]["schemas"][name]["examples"]
