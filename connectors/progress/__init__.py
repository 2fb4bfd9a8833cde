"""Logical times and the durable journal that ties them to input offsets."""
