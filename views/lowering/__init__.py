"""Lowering: from what a query means to the dataflow that maintains it, with every choice made."""
