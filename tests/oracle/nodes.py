"""Dataflow nodes over whole collections: one method for each node, by its definition."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cmp_to_key, reduce
from itertools import accumulate, pairwise
from operator import add, and_, or_, xor
from typing import Any, TypeAlias, assert_never

import pyarrow as pa

from ivm.dataflow import aggregates as agg
from ivm.dataflow import nodes as df
from ivm.errors import NoFixedPoint
from tests.oracle import scalars
from tests.oracle.numbers import quotient
from tests.oracle.values import (
    EXACT,
    NAN,
    Error,
    Outcome,
    Scalar,
    canonical,
    compare,
    fit,
    same,
)
from tests.oracle.windows import Partition

Row: TypeAlias = tuple[Scalar, ...]
ROUNDS = 1_000


@dataclass(frozen=True)
class Result:
    """A collection: rows and error messages, each with its count."""

    rows: Counter[Row]
    errors: Counter[str]


class Evaluator:
    """Evaluates nodes against fixed inputs and, inside a loop, the values of its names.

    `turns` has for each name the present priority of its loop, and a set for those that wait.
    """

    def __init__(
        self,
        inputs: Mapping[str, Counter[Row]],
        names: Mapping[str, Result] | None = None,
        turns: Mapping[str, tuple[int, set[int]]] | None = None,
    ) -> None:
        self.inputs = inputs
        self.names = names or {}
        self.turns = turns or {}

    def value(self, node: df.Node) -> Result:
        """The collection that `node` denotes."""
        return _tidy(self._value(node))

    def _value(self, node: df.Node) -> Result:
        match node:
            case df.Get():
                return self._get(node)
            case df.Constant():
                return self._constant(node)
            case df.Filter():
                return self._filter(node)
            case df.Map():
                return self._map(node)
            case df.FlatMap():
                return self._flatmap(node)
            case df.Consolidate() | df.Exchange():
                return self.value(node.input)
            case df.Union():
                return self._concat(node)
            case df.Negate():
                return self._negate(node)
            case df.Arrange():
                return self._arrange(node)
            case df.Join():
                return self._join(node)
            case df.DeltaJoin():
                return self._deltajoin(node)
            case df.Reduce():
                return self._reduce(node)
            case df.Distinct():
                return self._distinct(node)
            case df.Threshold():
                return self._threshold(node)
            case df.TopK():
                return self._topk(node)
            case df.Window():
                return self._window(node)
            case df.Recursive():
                return self._recursive(node)
            case df.Iterate():
                return self._iterate(node)
            case df.EnterAt():
                return self._enterat(node)
            case _:
                raise NotImplementedError(f"the oracle has no {type(node).__name__}")

    def _get(self, node: df.Get) -> Result:
        return Result(Counter(self.inputs[node.name]), Counter())

    def _constant(self, node: df.Constant) -> Result:
        return Result(Counter(tuple(canonical(v) for v in row) for row in node.rows), Counter())

    def _filter(self, node: df.Filter) -> Result:
        given = self.value(node.input)
        rows: Counter[Row] = Counter()
        errors = Counter(given.errors)
        for row, n in given.rows.items():
            outcome = scalars.evaluate(node.predicate, row)
            if isinstance(outcome, Error):
                errors[outcome.message] += n
            elif outcome is True:
                rows[row] += n
        return Result(rows, errors)

    def _map(self, node: df.Map) -> Result:
        given = self.value(node.input)
        rows: Counter[Row] = Counter()
        errors = Counter(given.errors)
        for row, n in given.rows.items():
            out: list[Scalar] = []
            for _, expression in node.outputs:
                outcome = scalars.evaluate(expression, row)
                if isinstance(outcome, Error):
                    errors[outcome.message] += n
                    break
                out.append(outcome)
            else:
                rows[tuple(out)] += n
        return Result(rows, errors)

    def _flatmap(self, node: df.FlatMap) -> Result:
        """Row by row, which the function may not notice."""
        given = self.value(node.input)
        rows: Counter[Row] = Counter()
        errors = Counter(given.errors)
        for row, n in given.rows.items():
            named = dict(zip(node.input.schema.names, row, strict=True))
            batch = pa.RecordBatch.from_pylist([named], schema=node.input.schema)
            try:
                answer, _ = node.function(batch)
                out = [tuple(canonical(v) for v in r.values()) for r in answer.to_pylist()]
            except Exception as error:
                errors[f"{type(error).__name__}: {error}"] += n
                continue
            for each in out:
                rows[each] += n
        return Result(rows, errors)

    def _concat(self, node: df.Union) -> Result:
        return reduce(_plus, (self.value(i) for i in node.inputs))

    def _negate(self, node: df.Negate) -> Result:
        """Rows only: an error must not cancel the same error of the collection subtracted from."""
        given = self.value(node.input)
        return Result(Counter({row: -n for row, n in given.rows.items()}), given.errors)

    def _arrange(self, node: df.Arrange) -> Result:
        given = self.value(node.input)
        order = [*node.key, *(i for i in range(len(node.schema)) if i not in node.key)]
        return Result(
            Counter({tuple(row[i] for i in order): n for row, n in given.rows.items()}),
            given.errors,
        )

    def _join(self, node: df.Join) -> Result:
        left, right = self.value(node.left), self.value(node.right)
        width = len(node.left.key)
        assert width == len(node.right.key)
        index: dict[Row, list[tuple[Row, int]]] = defaultdict(list)
        for row, n in right.rows.items():
            index[row[:width]].append((row[width:], n))
        rows: Counter[Row] = Counter()
        for row, n in left.rows.items():
            for rest, m in index.get(row[:width], ()):
                both = row + rest
                rows[tuple(both[i] for _, i in node.outputs)] += n * m
        return Result(rows, left.errors + right.errors)

    def _deltajoin(self, node: df.DeltaJoin) -> Result:
        """The rows of all relations that satisfy the first path's equalities."""
        given = [self.value(relation) for relation in node.relations]
        starts = list(accumulate((len(r.schema) for r in node.relations), initial=0))
        equal = [
            (starts[lookup.relation] + mine, other)
            for lookup in node.paths[0].lookups
            for mine, other in zip(lookup.key, lookup.bound, strict=True)
        ]
        rows: Counter[Row] = Counter({(): 1})
        for relation, end in zip(given, starts[1:], strict=True):
            pairs = [(a, b) for a, b in equal if a < end and b < end]
            wider: Counter[Row] = Counter()
            for row, n in rows.items():
                for more, m in relation.rows.items():
                    both = row + more
                    if all(same(both[a], both[b]) for a, b in pairs):
                        wider[both] += n * m
            rows = wider
        out: Counter[Row] = Counter()
        for row, n in rows.items():
            out[tuple(row[i] for _, i in node.outputs)] += n
        return Result(out, reduce(add, (r.errors for r in given)))

    def _reduce(self, node: df.Reduce) -> Result:
        given = self.value(node.input)
        groups: dict[Row, list[tuple[Row, int]]] = defaultdict(list)
        for row, n in given.rows.items():
            groups[tuple(row[i] for i in node.key)].append((row, n))
        rows: Counter[Row] = Counter()
        errors = Counter(given.errors)
        for key, members in groups.items():
            outcomes = [aggregate(a, members) for a in node.aggregates]
            failed = [o.message for o in outcomes if isinstance(o, Error)]
            if failed:
                errors[failed[0]] += 1
            else:
                rows[(*key, *outcomes)] += 1  # type: ignore[arg-type]
        return Result(rows, errors)

    def _distinct(self, node: df.Distinct) -> Result:
        given = self.value(node.input)
        return Result(Counter(row for row, n in given.rows.items() if n > 0), given.errors)

    def _threshold(self, node: df.Threshold) -> Result:
        given = self.value(node.input)
        most = math.inf if node.limit is None else node.limit
        rows = Counter({row: int(min(n, most)) for row, n in given.rows.items() if n > 0})
        return Result(rows, given.errors)

    def _topk(self, node: df.TopK) -> Result:
        given = self.value(node.input)
        groups: dict[Row, list[Row]] = defaultdict(list)
        for row, n in given.rows.items():
            groups[tuple(row[i] for i in node.key)].extend([row] * n)
        named = {o.column for o in node.order}
        rest = [agg.Order(i) for i in range(len(node.schema)) if i not in named]
        by = _key(lambda a, b: _ordering(a, b, (*node.order, *rest)))
        end = None if node.limit is None else node.offset + node.limit
        rows: Counter[Row] = Counter()
        for members in groups.values():
            rows.update(sorted(members, key=by)[node.offset : end])
        return Result(rows, given.errors)

    def _window(self, node: df.Window) -> Result:
        given = self.value(node.input)
        partitions: dict[Row, list[Row]] = defaultdict(list)
        for row, n in given.rows.items():
            partitions[tuple(row[i] for i in node.key)].extend([row] * n)
        named = {o.column for o in node.order}
        rest = [agg.Order(i) for i in range(len(node.input.schema)) if i not in named]
        by = _key(lambda a, b: _ordering(a, b, (*node.order, *rest)))
        rows: Counter[Row] = Counter()
        errors = Counter(given.errors)
        for members in partitions.values():
            members.sort(key=by)
            steps = (bool(_ordering(a, b, node.order)) for a, b in pairwise(members))
            partition = Partition(node, members, list(accumulate(steps, initial=0)), aggregate)
            for i, row in enumerate(members):
                outcomes = partition.results(i)
                failed = [o.message for o in outcomes if isinstance(o, Error)]
                if failed:
                    errors[failed[0]] += 1
                else:
                    rows[(*row, *outcomes)] += 1  # type: ignore[arg-type]
        return Result(rows, errors)

    def _recursive(self, node: df.Recursive) -> Result:
        return self.names[node.name]

    def _iterate(self, node: df.Iterate) -> Result:
        values = {name: Result(Counter(), Counter()) for name, _ in node.bindings}
        priority = 0
        for _ in range(node.max_rounds or ROUNDS):
            waiting: set[int] = set()
            turns = dict.fromkeys(values, (priority, waiting))
            inner = Evaluator(self.inputs, {**self.names, **values}, {**self.turns, **turns})
            after = {name: inner.value(body) for name, body in node.bindings}
            if any(after[name].rows != values[name].rows for name in after):
                values = {name: Result(r.rows, Counter()) for name, r in after.items()}
            elif waiting:
                priority = min(waiting)
            else:
                return after[node.result]
        if node.stops:
            return after[node.result]
        reason = f"no fixed point after {node.max_rounds or ROUNDS} rounds"
        raise NoFixedPoint({node.result: reason})

    def _enterat(self, node: df.EnterAt) -> Result:
        given, (present, waiting) = self.value(node.input), self.turns[node.into]
        rows: Counter[Row] = Counter()
        for row, n in given.rows.items():
            outcome = scalars.evaluate(node.priority, row)
            assert outcome is None or isinstance(outcome, int)
            priority = min(max(outcome or 0, 0), 2**32 - 1)
            if priority <= present:
                rows[row] += n
            else:
                waiting.add(priority)
        return Result(rows, given.errors)


def aggregate(spec: agg.Aggregate, members: Sequence[tuple[Row, int]]) -> Outcome:
    """One aggregate over the rows of a group, with their counts."""
    if spec.column is None:
        return sum(n for _, n in members)
    values: list[tuple[Any, int]] = [
        (row[spec.column], n) for row, n in members if row[spec.column] is not None
    ]
    match spec.function:
        case "count":
            return sum(n for _, n in values)
        case "first":
            least: Outcome = _in_order(spec, members)[0]
            return least
        case "list" | "set" | "join":
            return _gathered(spec, members)
        case "comoment":
            return _comoment(spec, members)
    if not values:
        return None
    match spec.function:
        case "sum":
            total = _total(values)
            return total if isinstance(total, Error) else fit_total(total, spec.type)
        case "avg":
            total, count = _total(values), sum(n for _, n in values)
            if isinstance(total, float | Fraction):
                return _quotient(total, count)
            if not isinstance(spec.type, pa.Decimal128Type):
                return fit(EXACT.divide(Decimal(total), Decimal(count)), spec.type)
            return quotient(Decimal(total), Decimal(count), spec.type)
        case "min" | "max":
            sign = 1 if spec.function == "max" else -1
            order = _key(lambda a, b: compare(a, b) * sign)
            extreme: Outcome = max((v for v, _ in values), key=order)
            return extreme
        case "bit_and" | "bit_or" | "bit_xor":
            combine = {"bit_and": and_, "bit_or": or_, "bit_xor": xor}[spec.function]
            combined: Outcome = reduce(combine, (v for v, n in values for _ in range(n)))
            return combined
        case "percentile_cont" | "percentile_disc":
            return _percentile(spec, members)
        case _:
            assert_never(spec.function)


def _in_order(spec: agg.Aggregate, members: Sequence[tuple[Row, int]]) -> list[Any]:
    """The values of `spec` in its order, one for each copy of a row that counts."""
    assert spec.column is not None
    by = _key(lambda a, b: _ordering(a, b, (*spec.order, agg.Order(spec.column or 0))))
    counted = [(r, n) for r, n in members if spec.where is None or r[spec.where] is True]
    rows = sorted((row for row, n in counted for _ in range(n)), key=by)
    return [row[spec.column] for row in rows]


def _gathered(spec: agg.Aggregate, members: Sequence[tuple[Row, int]]) -> Outcome:
    values = _in_order(spec, members)
    if spec.function == "join":
        texts = [v for v in values if v is not None]
        return str(spec.parameter).join(texts) if texts else None
    if spec.function == "set":
        values = [v for i, v in enumerate(values) if i == 0 or not same(v, values[i - 1])]
    return tuple(values) if values else None


def _percentile(spec: agg.Aggregate, members: Sequence[tuple[Row, int]]) -> Outcome:
    values = [v for v in _in_order(spec, members) if v is not None]
    assert isinstance(spec.parameter, float)
    if spec.function == "percentile_disc":
        found: Outcome = values[max(math.ceil(spec.parameter * len(values)) - 1, 0)]
        return found
    at = spec.parameter * (len(values) - 1)
    low, high = values[math.floor(at)], values[math.ceil(at)]
    if at == math.floor(at):
        return canonical(low)
    return canonical(low + (at - math.floor(at)) * (high - low))


def _comoment(spec: agg.Aggregate, members: Sequence[tuple[Row, int]]) -> Outcome:
    """By its definition, in rational numbers."""
    assert spec.column is not None
    other = spec.column if spec.other is None else spec.other
    pairs: list[tuple[Any, Any, int]] = [(r[spec.column], r[other], n) for r, n in members]
    given = [(x, y, n) for x, y, n in pairs if x is not None and y is not None]
    if not given:
        return None
    if any(v is NAN or v in (math.inf, -math.inf) for x, y, _ in given for v in (x, y)):
        return NAN
    count = sum(n for *_, n in given)
    fractions = [(Fraction(x), Fraction(y), n) for x, y, n in given]
    x_mean = sum((x * n for x, _, n in fractions), Fraction()) / count
    y_mean = sum((y * n for _, y, n in fractions), Fraction()) / count
    exact = sum(((x - x_mean) * (y - y_mean) * n for x, y, n in fractions), Fraction())
    try:
        return canonical(float(exact))
    except OverflowError:
        return Error("numeric value out of range in a sum or average")


def fit_total(total: Any, kind: pa.DataType) -> Outcome:
    """A sum in the aggregate's type."""
    if isinstance(total, float | Fraction):
        sum_ = _quotient(total, 1)
        return fit(sum_, kind) if isinstance(sum_, float) else sum_
    return fit(total, kind)


def _quotient(total: float | Fraction, count: int) -> Outcome:
    """A sum of floats, rounded, over a count; the sum itself may lie beyond the range."""
    for scale in (1, 1 << 64):
        with suppress(OverflowError):
            quotient = float(total / scale) / count * scale
            if isinstance(total, float) or math.isfinite(quotient):
                return canonical(quotient)
    return Error("numeric value out of range in a sum or average")


def _key(order: Callable[[Any, Any], int]) -> Callable[[Any], Any]:
    return cmp_to_key(order)


def _total(values: Iterable[tuple[Any, int]]) -> Any:
    given = list(values)
    if isinstance(given[0][0], float):
        if any(v is NAN for v, _ in given) or {math.inf, -math.inf} <= {v for v, _ in given}:
            return NAN
        if any(v in (math.inf, -math.inf) for v, _ in given):
            return sum(v for v, _ in given if math.isinf(v))
        return sum((Fraction(v) * n for v, n in given), Fraction())
    if isinstance(given[0][0], Decimal):
        return reduce(EXACT.add, (EXACT.multiply(v, Decimal(n)) for v, n in given))
    return sum(v * n for v, n in given)


def _ordering(a: Row, b: Row, order: Iterable[agg.Order]) -> int:
    for o in order:
        x, y = a[o.column], b[o.column]
        if x is None or y is None:
            if x is y:
                continue
            return -1 if (x is None) == o.nulls_first else 1
        if c := compare(x, y):
            return -c if o.descending else c
    return 0


def _plus(a: Result, b: Result) -> Result:
    rows = Counter(a.rows)
    for row, n in b.rows.items():
        rows[row] += n
    return Result(rows, a.errors + b.errors)


def _tidy(result: Result) -> Result:
    return Result(Counter({r: n for r, n in result.rows.items() if n}), result.errors)
