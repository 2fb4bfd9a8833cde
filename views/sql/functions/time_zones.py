"""Binds time zones: instants shown on a zone's clock, and such a clock read as an instant."""

from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.expressions import Expression, Literal
from ivm.values import zones
from ivm.values.types import INTERVAL
from views.errors import InvalidLiteral, UnknownFunction
from views.plan.scalars import call
from views.sql.base.binder import Binder, name
from views.sql.base.coercion import (
    DATE,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    Bound,
    cast,
    is_temporal,
)
from views.sql.functions.moving import negated, shifted


def at_time_zone(b: Binder, node: exp.AtTimeZone) -> Bound:
    """Binds `moment AT TIME ZONE zone`: a name, an abbreviation, an offset, or an interval."""
    return _of(b, node.this, node.args["zone"])


def timezone(b: Binder, node: exp.Anonymous) -> Bound:
    """Binds `timezone(zone, moment)`."""
    if len(node.expressions) != 2:
        raise b.fault(UnknownFunction, "timezone() takes a zone and a moment", node)
    zone, moment = node.expressions
    return _of(b, moment, zone)


def _of(b: Binder, node: exp.Expr, zone: exp.Expr) -> Expression:
    moment = b.value(node, TIMESTAMPTZ)
    if not is_temporal(moment.type):
        raise b.mismatch(f"no time zone for {name(moment)}", node)
    return shown(b, cast(moment, TIMESTAMPTZ) if moment.type == DATE else moment, zone)


def shown(b: Binder, here: Expression, node: exp.Expr) -> Expression:
    """Shows an instant on the clock of the zone at `node`, or reads that clock as an instant."""
    zone = b.value(node)
    local = here.type == TIMESTAMP
    result = TIMESTAMPTZ if local else TIMESTAMP
    if zone.type == INTERVAL:
        offset = call("zone_offset", zone, result=INTERVAL)
        by = computed(offset) if isinstance(zone, Literal) else offset
        return cast(shifted(here, negated(by) if local else by), result)
    if zone.type != TEXT:
        raise b.mismatch(f"a time zone is text or an interval, not {name(zone)}", node)
    if isinstance(zone, Literal) and isinstance(zone.value, str):
        try:
            fixed = zones.find(zone.value) == zones.UTC
        except ValueError as error:
            raise b.fault(InvalidLiteral, str(error), node) from error
        if fixed:
            return cast(here, result)
    return call("from_local" if local else "to_local", here, zone, result=result)
