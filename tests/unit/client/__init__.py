"""The Python client, against services that listen."""
