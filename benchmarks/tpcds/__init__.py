"""Queries over the schema of TPC-DS, for the time that a query takes to compile and to install.

They have the shapes of those TPC-DS queries, by their numbers, that are the longest to compile:
years against years of several channels, items sold across all channels, chains of 18 tables,
conditions in alternatives, a hundred sums by month, cubes and rollups. The texts are ours, not the
benchmark's.
"""
