"""Nexmark: an auction's people, auctions and bids, and its queries as views."""

from benchmarks.nexmark.data import QUERIES, tables
from benchmarks.verify import Trial

TRIALS = (Trial("nexmark, 2,000 events", QUERIES, lambda _: tables(2_000), 0.005),)

__all__ = ["TRIALS"]
