"""A script is a function written in Python, with the contract by which the compiler calls it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ivm.dataflow.expressions import Call, Literal, Value
from ivm.errors import Unsupported


@dataclass(frozen=True, slots=True)
class Script:
    """A script takes values of the families `takes`; `any` is every type.

    `made`: `function(call)` makes the function of the arguments that are not `constants`; else it
    is that function itself. Unless `strict` is false it is not called where an argument is NULL;
    `nullable`: it may answer None, which is NULL.
    """

    function: Callable[..., Any]
    takes: tuple[str, ...]
    strict: bool = True
    nullable: bool = False
    made: bool = False
    constants: tuple[int, ...] = ()


def constant(call: Call, position: int) -> Value:
    """Give the value of a literal argument that is not NULL (raises Unsupported for any other)."""
    argument = call.arguments[position]
    if not isinstance(argument, Literal) or argument.value is None:
        raise Unsupported(f"{call.function} with argument {position + 1} that is not constant")
    return argument.value
