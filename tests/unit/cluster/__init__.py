"""Tests of clusters: the mesh, distribution, and pools whose members are processes."""
