"""The stack that the tests here share."""

from tests.e2e.kafka.conftest import stack

__all__ = ["stack"]
