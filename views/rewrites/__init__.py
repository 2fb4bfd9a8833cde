"""Rewrites of the plan: named rules in the order in which they run, one in each module.

A rule maps a plan to one of the same meaning with the same columns.

- `asking`: evaluation on demand: subqueries that may fail are evaluated for the rows that ask
- `context`: the context of rules: fresh column numbers, and the arrangements that exist
- `days`: days compared with constant moments, as days
- `decorrelate`: decorrelation: every Apply becomes a join of two independent plans
- `factoring`: factoring: a condition that every alternative of an OR has stands before the OR
- `folding`: constant folding: constants are computed once, and empty inputs dropped
- `groups`: groups that are asked for: rows of others are dropped before they are grouped
- `joinorder`: join order: inner joins follow the equalities and the keys
- `outerjoins`: outer joins that become inner, or one-sided, where padded rows are dropped anyway
- `padding`: outer joins that pad every row, where aggregates ignore padded rows
- `pushdown`: predicate push-down: every condition is tested as early as its columns exist
- `ranking`: top-k recognition: a filter on row numbers or ranks becomes a TopK
- `recursion`: selections on recursions: what these pass on unchanged is selected where they begin
- `reduction`: semijoin reduction: semijoins move below the joins that multiply their rows
- `semijoins`: semijoins in the place of marks that a filter requires
- `spans`: normal forms of intervals, where equal ones must be one value
"""

from collections.abc import Callable

from views.errors import QueryTooLarge
from views.limits import MOST_NODES
from views.plan.nodes import Plan
from views.plan.trees import size
from views.rewrites.context import Context
from views.rewrites.decorrelate import decorrelate
from views.rewrites.factoring import factor_conditions
from views.rewrites.folding import drop_empty, fold_constants
from views.rewrites.groups import drop_groups
from views.rewrites.joinorder import order_joins
from views.rewrites.outerjoins import strengthen_joins
from views.rewrites.padding import pad_all
from views.rewrites.pushdown import push_filters
from views.rewrites.ranking import recognise_topk
from views.rewrites.reduction import reduce_early
from views.rewrites.semijoins import semijoins
from views.rewrites.spans import normalise_spans

Rule = Callable[[Plan, Context], Plan]

RULES: tuple[tuple[str, Rule], ...] = (
    ("fold_constants", fold_constants),  # first: what is constant cannot fail for some row
    ("decorrelate", decorrelate),
    ("drop_empty", drop_empty),
    ("factor_conditions", factor_conditions),
    ("semijoins", semijoins),
    ("strengthen_joins", strengthen_joins),
    ("push_filters", push_filters),
    ("drop_groups", drop_groups),
    ("reduce_early", reduce_early),
    ("pad_all", pad_all),
    ("order_joins", order_joins),
    ("recognise_topk", recognise_topk),
    ("normalise_spans", normalise_spans),
)


def rewrite(plan: Plan, context: Context) -> Plan:
    """Applies every rule to `plan` (raises QueryTooLarge).

    Unnesting a subquery repeats the plan beside it, and a few levels multiply that.
    """
    for _, rule in RULES:
        plan = rule(plan, context)
        if size(plan) > MOST_NODES:
            raise QueryTooLarge(
                f"its subqueries unnested, the query's plan has more than {MOST_NODES:,} nodes; "
                "make some of them views of their own"
            )
    return plan
