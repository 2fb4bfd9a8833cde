"""Lowers functions and casts that are written in Python to calls of one kernel."""

from collections.abc import Mapping

from ivm.dataflow.expressions import Call, Literal
from ivm.errors import Unsupported
from ivm.expressions.compiler import Assembly, Lowering
from ivm.expressions.families import family, gives, literal_text, wants
from ivm.expressions.kernels.python import Routine, Search
from ivm.expressions.python import (
    arrays,
    degrees,
    document_changes,
    documents,
    forms,
    intervals,
    json_paths,
    moments,
    numbers,
    octets,
    orders,
    patterns,
    rows,
    sets,
    templates,
    texts,
)
from ivm.expressions.python.script import Script
from ivm.values.patterns import searcher
from ivm.values.type_names import shown

SCRIPTS: Mapping[str, Script] = {
    **texts.SCRIPTS,
    **octets.SCRIPTS,
    **patterns.SCRIPTS,
    **numbers.SCRIPTS,
    **degrees.SCRIPTS,
    **intervals.SCRIPTS,
    **moments.SCRIPTS,
    **templates.SCRIPTS,
    **documents.SCRIPTS,
    **document_changes.SCRIPTS,
    **json_paths.SCRIPTS,
    **arrays.SCRIPTS,
    **rows.SCRIPTS,
    **sets.SCRIPTS,
    **orders.SCRIPTS,
}
CASTS: Mapping[tuple[str, str], Script] = {
    **forms.CASTS,
    **moments.CASTS,
    **documents.CASTS,
    **arrays.CASTS,
    **rows.CASTS,
}


def _scripted(a: Assembly, call: Call) -> int:
    script = SCRIPTS[call.function]
    given = [family(e.type) for e in call.arguments]
    if len(given) != len(script.takes) or any(
        wanted not in ("any", name) for name, wanted in zip(given, script.takes, strict=True)
    ):
        types = ", ".join(shown(e.type) for e in call.arguments)
        raise Unsupported(f"{call.function} of ({types})")
    return run_script(a, call, script)


def run_script(a: Assembly, call: Call, script: Script) -> int:
    """`script` applied to the arguments of `call`."""
    function = script.function(call) if script.made else script.function
    varying = [e for i, e in enumerate(call.arguments) if i not in script.constants]
    registers = tuple(a.register(e) for e in varying)
    no_value = f"not a value of {shown(call.type)}"
    problem = no_value if call.function == "cast" else "no result for these arguments"
    return a.emit(
        "scripted",
        registers,
        call.type,
        nullable=True if script.nullable or not script.strict else None,
        message=a.complaint(problem, call),
        overflow=a.complaint(f"{shown(call.type)} out of range", call),
        routine=Routine(function, [e.type for e in varying], call.type, script.strict),
    )


def _search(a: Assembly, call: Call) -> int:
    """`regexp_like(text, pattern, flags)`; many texts at once for a constant pattern."""
    wants(call, "text", "text", "text")
    gives(call, "bool")
    given = [e.value if isinstance(e, Literal) else None for e in call.arguments[1:]]
    if not all(isinstance(value, str) for value in given):
        return run_script(a, call, SCRIPTS["regexp_like_any"])
    find = searcher(literal_text(call, 1), literal_text(call, 2))
    text = a.register(call.arguments[0])
    return a.emit("search", (text,), call.type, routine=Search(find))


SCRIPTED: dict[str, Lowering] = {**dict.fromkeys(SCRIPTS, _scripted), "regexp_like": _search}
