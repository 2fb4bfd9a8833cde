"""Errors of sources, sinks and the journal, each with its stable code."""

from ivm.errors import IvmError


class InvalidTable(IvmError):
    """A table's declaration contradicts itself or names something unknown."""

    code = "invalid-table"


class UnknownTable(IvmError):
    """The pipeline reads no table of this name."""

    code = "unknown-table"


class DuplicateTable(IvmError):
    """The pipeline reads a table of this name already."""

    code = "duplicate-table"


class InvalidRecord(IvmError):
    """A value cannot be stored as one line of a file topic."""

    code = "invalid-record"


class TopicTruncated(IvmError):
    """A topic no longer holds records that were read or promised: it was cut, or made anew."""

    code = "topic-truncated"


class JournalCorrupt(IvmError):
    """The journal of progress is damaged before its end; going on would guess at times."""

    code = "journal-corrupt"


class JournalInUse(IvmError):
    """Another process has this journal open."""

    code = "journal-in-use"


class OffsetGap(IvmError):
    """A batch begins beyond the recorded position of its partition: records would be lost."""

    code = "offset-gap"


class Stalled(IvmError):
    """A record of a table with `on_error="stall"` cannot be decoded, so the pipeline waits."""

    code = "stalled"


class JavaMissing(IvmError):
    """No Java that Spark accepts was found."""

    code = "java-missing"


class PipelineFailed(IvmError):
    """The pipeline stopped by itself; its status says why."""

    code = "pipeline-failed"
