"""Errors of the mentions' demonstration."""

from ivm.errors import IvmError


class BadMentions(IvmError):
    """A file of mentions, or the window over it, is not as it must be."""

    code = "bad-mentions"
