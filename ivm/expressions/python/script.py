"""What a function written in Python is to the assembly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ivm.dataflow.expressions import Call, Literal, Value
from ivm.errors import Unsupported


@dataclass(frozen=True, slots=True)
class Script:
    """A function of values of the families `takes` (`any`: of every type), at most three of them.

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
    """The value of a literal argument that is not NULL (raises Unsupported for any other)."""
    argument = call.arguments[position]
    if not isinstance(argument, Literal) or argument.value is None:
        raise Unsupported(f"{call.function} with argument {position + 1} that is not constant")
    return argument.value
