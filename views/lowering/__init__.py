"""Lowering: from the logical plan to the physical one, with every choice made.

The physical plan is a dataflow of `ivm.dataflow.nodes`, which the pool plans as they are. Chosen
here are: which arrangements are read, reused and made, the form of each join (of two, delta,
look-up), how aggregates are reduced, and which columns are kept at each step.
"""
