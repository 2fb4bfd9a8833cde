"""What goes wrong in a comparison, told to whoever runs it."""


class BenchmarkError(Exception):
    """A benchmark that cannot run, or sides that do not agree; the message says what to do."""
