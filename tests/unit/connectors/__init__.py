"""Connectors, by themselves: no JVM."""
