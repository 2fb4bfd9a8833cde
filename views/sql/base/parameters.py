"""Names of functions' parameters: arguments are written `name => value`, or `name := value`."""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from views.errors import suggestion

_PATH = ("target", "path", "vars", "silent")
_SET = ("jsonb_in", "path", "replacement")
_FUNCTIONS = ("exists", "match", "query", "query_array", "query_first")
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **{f"jsonb_path_{f}{end}": _PATH for f in _FUNCTIONS for end in ("", "_tz")},
    "jsonb_insert": (*_SET, "insert_after"),
    "jsonb_set": (*_SET, "create_if_missing"),
    "jsonb_set_lax": (*_SET, "create_if_missing", "null_value_treatment"),
    "make_date": ("year", "month", "day"),
    "make_interval": ("years", "months", "weeks", "days", "hours", "mins", "secs"),
    "make_time": ("hour", "min", "sec"),
    "make_timestamp": ("year", "month", "mday", "hour", "min", "sec"),
    "make_timestamptz": ("year", "month", "mday", "hour", "min", "sec", "timezone"),
    "parse_ident": ("str", "strict"),
    "regexp_like": ("string", "pattern", "flags"),
    "regexp_match": ("string", "pattern", "flags"),
    "regexp_matches": ("string", "pattern", "flags"),
    "regexp_split_to_array": ("string", "pattern", "flags"),
    "regexp_split_to_table": ("string", "pattern", "flags"),
}


def is_named(node: exp.Expr) -> bool:
    """Tells whether an argument has a name."""
    return isinstance(node, exp.Kwarg | exp.PropertyEQ)


def by_place(function: str, nodes: Sequence[exp.Expr]) -> list[exp.Expr | None]:
    """Puts arguments in the order of the parameters; None where a default stands in between.

    Raises ValueError for a name that there is not, or that is given twice.
    """
    count = sum(not is_named(node) for node in nodes)
    names = [name.lower() for name in PARAMETERS.get(function, ())]
    placed: dict[int, exp.Expr] = dict(enumerate(nodes[:count]))
    for node in nodes[count:]:
        name = node.this.name.lower() if is_named(node) else ""
        if name not in names:
            near = suggestion(name, names)
            raise ValueError(f"{function}() has no parameter {name!r}{near}")
        place = names.index(name)
        if place in placed:
            raise ValueError(f"{function}() is given {name!r} twice")
        placed[place] = node.expression
    return [placed.get(i) for i in range(max(placed, default=-1) + 1)]
