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


class JournalCorrupt(IvmError):
    """The journal of progress is damaged before its end; going on would guess at times."""

    code = "journal-corrupt"


class JournalInUse(IvmError):
    """Another process has this journal open."""

    code = "journal-in-use"


class QuarantineCorrupt(IvmError):
    """The file of records put aside cannot be read; going on would lose them."""

    code = "quarantine-corrupt"


class CheckpointCorrupt(IvmError):
    """A file of a checkpoint is missing, damaged, or contradicts its manifest."""

    code = "checkpoint-corrupt"


class CheckpointRefused(IvmError):
    """No checkpoint can be restored that the journal goes on from, and records would be lost."""

    code = "checkpoint-refused"


class InvalidStore(IvmError):
    """The setting `checkpoints` names no place where files can be kept."""

    code = "invalid-store"


class OffsetGap(IvmError):
    """A batch begins beyond the recorded position of its partition: records would be lost."""

    code = "offset-gap"


class Stalled(IvmError):
    """A table cannot be read on: it waits, or the whole pipeline; no later record was applied.

    `table` is its name, where it is known; `place` is the table, partition and offset of the record
    that has stalled it, if it is one.
    """

    code = "stalled"

    def __init__(
        self,
        message: str,
        place: tuple[str, int, int] | None = None,
        table: str | None = None,
    ) -> None:
        super().__init__(message)
        self.place = place
        self.table = table if place is None else place[0]


class TopicTruncated(Stalled):
    """A topic no longer holds records that were read or promised: it was cut, or made anew."""

    code = "topic-truncated"


class CorrectionLost(Stalled):
    """The quarantine no longer holds the bytes of a correction that the journal names."""

    code = "correction-lost"


class JavaMissing(IvmError):
    """No Java that Spark accepts was found."""

    code = "java-missing"


class TooFewSlots(IvmError):
    """Spark cannot run as many tasks at once as real-time mode needs."""

    code = "too-few-slots"


class PipelineFailed(IvmError):
    """The pipeline stopped by itself; its status says why."""

    code = "pipeline-failed"


class UnknownConnection(IvmError):
    """A source or sink names a connection that the operator has not configured."""

    code = "unknown-connection"


class Unavailable(IvmError):
    """Something outside cannot be used at present; asking again later may succeed.

    `part` is what does not answer, as in `connection main`; `setting` what to look at, which the
    message names too. `table` is the one that waits for it, if it is the only one.
    """

    code = "unavailable"
    part = "outside"
    setting: str | None = None
    table: str | None = None


class RegistryUnavailable(Unavailable):
    """A schema registry does not answer, or not as one; records wait for it."""

    code = "registry-unavailable"
    part = "schema registry"
    setting = "schema_registry_url"


class SparkUnavailable(Unavailable):
    """Spark cannot start the processes that it needs at present, as on a machine under load."""

    code = "spark-unavailable"
    part = "spark"
    setting = "spark_master"


class ShardUnavailable(Unavailable):
    """A shard of a cluster does not take the rows that it owns; they wait, and come again."""

    code = "shard-unavailable"
    part = "cluster"
    setting = "cluster"


class MemoryShort(Unavailable):
    """A process of the engine uses more memory than it may; records wait until it uses less."""

    code = "memory-short"
    part = "cluster"
    setting = "max_process_bytes"


class BrokerFault(Unavailable):
    """A cluster cannot be used at present, or no more than this `topic` of it."""

    code = "broker-unreachable"

    def __init__(
        self,
        message: str,
        part: str = "kafka",
        setting: str | None = None,
        topic: str | None = None,
    ) -> None:
        super().__init__(message)
        self.part = part
        self.setting = setting
        self.topic = topic


class BrokerRefused(BrokerFault):
    """A cluster was reached, and refuses our credentials or the operation."""

    code = "broker-refused"


class UnknownTopic(BrokerFault):
    """The cluster has no topic of this name."""

    code = "unknown-topic"


class TopicRecreated(Stalled):
    """A topic was deleted and created again: its offsets mean other records than they did."""

    code = "topic-recreated"


class RecordsLost(Stalled):
    """A topic no longer holds offsets that were still to be read, or were read already."""

    code = "records-lost"


class UnknownRecord(IvmError):
    """The quarantine holds no record at this place."""

    code = "unknown-record"


class RecordClosed(IvmError):
    """A quarantined record was replayed, discarded or orphaned, so it takes no part any more."""

    code = "record-closed"


class StillRejected(IvmError):
    """A repaired record cannot be decoded either; it stays in the quarantine."""

    code = "still-rejected"


class Superseded(IvmError):
    """A correction would put an older row, or none, in the place of a newer one."""

    code = "superseded"


class ReplayUnderWay(IvmError):
    """Corrections wait until the pipeline runs and all that was journaled is applied."""

    code = "replay-under-way"


class TransactionIncomplete(Stalled):
    """Records wait for the rest of their transaction, too many or for too long."""

    code = "transaction-incomplete"


class NotStalled(IvmError):
    """The pipeline does not wait before the record that is to be skipped."""

    code = "not-stalled"


class KeyReused(IvmError):
    """An idempotency key came with other rows than before."""

    code = "idempotency-key-reused"


class InvalidSink(IvmError):
    """A sink's declaration contradicts itself, the view, or the topic that is there."""

    code = "invalid-sink"


class KeyNotUnique(IvmError):
    """A sink that keeps one row per key got, or could get, several."""

    code = "key-not-unique"


class RecordTooLarge(IvmError):
    """A record of a view is larger than its topic takes."""

    code = "record-too-large"


class SinkLagging(IvmError):
    """A topic could not be written for so long that the changes it lacks are no longer held."""

    code = "sink-lagging"


class SinkDiverged(IvmError):
    """The published changes do not belong to those that would be published now."""

    code = "sink-diverged"


class SinkFenced(IvmError):
    """Another instance of the service publishes now, so this one must not."""

    code = "sink-fenced"
