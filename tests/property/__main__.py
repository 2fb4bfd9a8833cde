"""`python -m tests.property`: many random queries, each maintained beside PostgreSQL.

Another seed makes other queries. Fails on the first query of a grammar that is answered otherwise,
or that the compiler raises on, after it was made as small as it goes.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.postgres import Judge, judging
from tests.property.judged_shop import follow, opened
from tests.property.shop import Tables, tables
from tests.property.sql_grammar import queries
from tests.property.sql_grammar_aggregates import aggregate_queries
from tests.property.sql_grammar_failing import failing_queries
from tests.property.sql_grammar_nested import nested_queries
from tests.property.sql_grammar_values import value_queries
from tests.property.sql_grammar_wide import wide_queries

GRAMMARS = {
    "plain": queries,
    "wide": wide_queries,
    "aggregates": aggregate_queries,
    "nested": nested_queries,
    "failing": failing_queries,
    "values": value_queries,
}
HISTORIES = st.lists(tables, min_size=2, max_size=3)


def search(shop: Judge, grammar: str, count: int, number: int) -> int:
    """The number of compared queries of a grammar (raises on one that is answered otherwise)."""
    compared = 0

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(query=GRAMMARS[grammar](), history=HISTORIES)
    def compare(query: str, history: list[Tables]) -> None:
        nonlocal compared
        follow(shop, query, history)
        compared += 1

    compare()
    return compared


def main() -> int:
    """1 if a grammar has a query that is answered otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.property", description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000, help="how many of each grammar")
    parser.add_argument("--grammars", nargs="+", choices=GRAMMARS, default=list(GRAMMARS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as shared, judging(Path(shared)) as judge:
        shop = opened(judge)
        for grammar in options.grammars:
            started = time.monotonic()
            try:
                compared = search(shop, grammar, options.queries, options.seed)
            except Exception as error:
                failed = True
                print(f"{grammar}: {error!r}", *getattr(error, "__notes__", ()), sep="\n")
            else:
                took = time.monotonic() - started
                print(f"{grammar}: {compared} queries as PostgreSQL has them, in {took:.0f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
