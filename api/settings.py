"""Settings of the service: `ivm.toml` in the working directory, overridden by `IVM_*` variables."""

from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from api.logs import LogFormat, LogLevel
from api.security.access import Access
from api.security.oidc import Oidc
from connectors.connections import Connection, named
from connectors.files.retention import Cleanup, Retention, Storage
from connectors.files.writer import SEGMENT_BYTES
from connectors.ingest.settings import Isolation, Trigger
from ivm.pool import available_bytes
from views.limits import MOST_NESTED, Limits

TOML_FILE = "ivm.toml"
MOST_SECONDS = 1e9  # a thread cannot wait ten times as long


class ClusterSettings(BaseModel):
    """Settings of a cluster: where its shards run, and when one counts as lost."""

    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True
    )

    shards: int = Field(ge=1)
    """The shards of the engine. Each takes a slot of `spark_master` for itself, and one more is
    needed to read."""
    host: str = "127.0.0.1"
    """The address by which executors reach the service."""
    secret: SecretStr | None = None
    """A secret that Spark's master, its workers and the service share; they encrypt then, and so do
    shards."""
    wait_seconds: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    """How long a start waits for the slots; with fewer there are fewer shards."""
    lost_seconds: float = Field(default=30.0, ge=1, le=MOST_SECONDS)
    """The time after which a shard that says nothing is lost, and the service begins anew."""


_BOUNDS_BY_THE_MACHINE = ("max_process_bytes", "max_recursion_bytes", "max_query_bytes")


class Settings(BaseSettings):
    """Everything the service needs to start; sizes are in records or bytes, times in seconds.

    docs/settings.md is made of the fields.
    """

    model_config = SettingsConfigDict(
        env_prefix="IVM_",
        toml_file=TOML_FILE,
        extra="forbid",
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    service: str = Field(default="ivm", pattern=r"^[A-Za-z0-9._-]{1,100}$")
    """Names the service in Kafka: its progress topic and its transactional ids begin with it, and
    its consumer group is called so."""
    data: Path = Path("data")
    """The directory of its state: journal, checkpoints, registry of definitions, quarantine."""
    topics: Path | None = None
    """The root of the file topics, inputs and deltas alike; `topics` in `data` unless set."""
    host: str = "127.0.0.1"
    """The address that it listens on."""
    port: int = Field(default=8080, ge=0, le=65535)
    """The port that it listens on; 0 takes a free one."""
    access: Access | None = None
    """`keys`, or `open` where callers need no key; unless set, they need one but on a loopback
    address without keys."""
    allowed_hosts: frozenset[str] = frozenset()
    """The names that requests may call it by, beside addresses and its own."""
    keys: Path | None = None
    """The file of API keys; `keys.json` in `data` unless set."""
    oidc: Oidc | None = None
    """An issuer whose tokens are taken beside keys: a table of its own, below."""
    tls_certificate: Path | None = None
    """A file in PEM, with which it speaks HTTPS."""
    tls_key: Path | None = None
    """The key of that certificate, in PEM."""
    api_key: SecretStr | None = None
    """The key that the command line sends."""
    console: bool = True
    """Whether there are pages for people, at `/console`."""
    log_format: LogFormat = "auto"
    """`json` is a line for each event, `console` is for people; `auto` is JSON unless stderr is a
    terminal."""
    log_level: LogLevel = "info"
    """The least level that is logged; `debug` has a line for each logical time."""
    traces: bool = False
    """Whether the spans of batches are sent to a collector of OpenTelemetry."""
    workers: int = Field(default=1, ge=1)
    """Threads of the engine."""
    max_rounds: int = Field(default=10_000, ge=1)
    """Rounds of a recursion in one step, at most."""
    max_updates: int = Field(default=2_000_000_000, ge=1)
    """Updates that a recursion may make in one step."""
    max_recursion_bytes: int = Field(default_factory=lambda: available_bytes() // 4, ge=1)
    """Memory that a recursion may take in one step; a quarter of what there is unless set."""
    max_process_bytes: int = Field(default_factory=lambda: available_bytes() * 3 // 4, ge=1)
    """Memory of the process, or of each shard, beyond which recursions stop, and with shards the
    input; three quarters of what there is unless set, which shards on this machine divide."""
    max_recursion_seconds: float = Field(default=300.0, gt=0, le=MOST_SECONDS)
    """Time that a recursion may take in one step."""
    spark_master: str = "local[2]"
    """The master of Spark: `local[N]` with N tasks at once; real-time mode needs one for each
    connection."""
    spark_memory: str = "1g"
    """Memory of the JVM of Spark, and of that of each executor."""
    cluster: ClusterSettings | None = None
    """Shards of the engine on Spark's executors, in place of this process: a table of its own,
    below."""
    spark_jars: Path = Path("build/jars/spark")
    """A directory of further jars for Spark, beside which an archive of its classes may lie."""
    connections: Annotated[dict[str, Connection], BeforeValidator(named)] = {}
    """Kafka clusters by the names that sources and sinks call them: tables `[connections.NAME]`, or
    a JSON object in the variable."""
    transaction_seconds: float = Field(default=120.0, ge=1, le=MOST_SECONDS)
    """Bounds a transaction, and so how long readers wait behind one that a dead service left
    open."""
    trigger: Trigger = "micro-batch"
    """`micro-batch`, or `real-time`: records as they come."""
    isolation: Isolation = "table"
    """Tables and views that one which cannot be read on holds up: its own (`table`), or `all`."""
    batch_records: int = Field(default=100_000, ge=1)
    """Records of one micro-batch from each connection and from file topics, about."""
    checkpoints: str | None = None
    """The place of checkpoints: a directory, or a URI of a filesystem that Arrow knows; in `data`
    unless set."""
    checkpoint_seconds: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    """Time after which a checkpoint is written."""
    checkpoint_records: int = Field(default=1_000_000, ge=1)
    """Records after which a checkpoint is written, if that is sooner."""
    checkpoints_kept: int = Field(default=2, ge=1)
    """Checkpoints that stay."""
    progress_seconds: float = Field(default=1.0, ge=0, le=MOST_SECONDS)
    """Time between two frontiers of a view that does not change, at least."""
    clean_seconds: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    """Time between two cleanings of file topics of deltas, posted rows and the quarantine."""
    quarantine_retention_seconds: float = Field(default=30 * 86_400.0, ge=0, le=MOST_SECONDS)
    """Time that records stay in the quarantine of which nothing is to come."""
    rows_retention_seconds: float | None = Field(default=None, gt=0, le=MOST_SECONDS)
    """Time that posted rows stay which all checkpoints hold; for ever unless set."""
    delta_cleanup: Cleanup = "compact"
    """The end of old segments of a file topic of deltas: `compact` to a snapshot, or `delete`."""
    delta_retention_seconds: float = Field(default=7 * 86_400.0, gt=0, le=MOST_SECONDS)
    """Age from which a segment of deltas is old."""
    delta_retention_bytes: int = Field(default=1 << 30, ge=1)
    """Size of the segments of a view beyond which the first ones are old, whatever their age."""
    delta_segment_seconds: float = Field(default=86_400.0, gt=0, le=MOST_SECONDS)
    """Time after which a segment of deltas ends."""
    delta_segment_bytes: int = Field(default=SEGMENT_BYTES, ge=1)
    """Size at which a segment of deltas ends, if that is sooner."""
    clock_seconds: float = Field(default=1.0, gt=0, le=MOST_SECONDS)
    """How often time passes for views that filter by `now()` and for sinks that wait."""
    on_error: Literal["stall", "quarantine"] = "stall"
    """What a record that cannot be decoded does unless its source says: `stall` its source, or go
    into `quarantine`."""
    max_body_bytes: int = Field(default=2 << 20, ge=1)
    """Size of the body of a request."""
    max_rows: int = Field(default=10_000, ge=1)
    """Rows of an answer or page."""
    max_query_characters: int = Field(default=1_000_000, ge=1)
    """Length of a query."""
    max_query_words: int = Field(default=100_000, ge=1)
    """Words and signs of a query."""
    max_query_nesting: int = Field(default=MOST_NESTED, ge=1, le=MOST_NESTED)
    """Depth of nesting in a query."""
    max_query_subqueries: int = Field(default=100, ge=0)
    """Subqueries of a query."""
    max_pairs: int = Field(default=100_000_000, ge=1)
    """Pairs of rows that a join without an equality may make of the rows that there are."""
    max_query_seconds: float = Field(default=30.0, gt=0, le=MOST_SECONDS)
    """Time that a query may take that is answered once."""
    max_query_bytes: int = Field(default_factory=lambda: available_bytes() // 4, ge=1)
    """Memory that such a query may take; a quarter of what there is unless set."""
    max_hydration_seconds: float = Field(default=3600.0, gt=0, le=MOST_SECONDS)
    """Time that a new view may take to catch up."""
    ready_seconds: float = Field(default=60.0, ge=0, le=MOST_SECONDS)
    """How long a change waits for a service that is starting."""
    wait_seconds: float = Field(default=30.0, ge=0, le=MOST_SECONDS)
    """How long a look-up waits for the offset that it names."""
    max_followers: int = Field(default=1_000, ge=1)
    """Change feeds that are followed at once."""
    max_followers_per_client: int = Field(default=100, ge=1)
    """Change feeds that are followed at once from one address."""
    event_bytes: int = Field(default=64 << 10, ge=1)
    """Size of an event of a feed that has more than one row, and of an answer that stands in memory
    while it is taken."""
    send_seconds: float = Field(default=30.0, gt=0, le=MOST_SECONDS)
    """How long a client may take nothing of its answer."""

    @property
    def topics_directory(self) -> Path:
        """The root of the file topics, inputs and deltas alike."""
        return self.topics if self.topics is not None else self.data / "topics"

    @property
    def delta_storage(self) -> Storage:
        """How the file topics of deltas are stored."""
        retention = Retention(self.delta_retention_seconds, self.delta_retention_bytes)
        segment = self.delta_segment_bytes, self.delta_segment_seconds
        return Storage(retention, self.delta_cleanup, *segment)

    @property
    def keys_file(self) -> Path:
        """The file of API keys."""
        return self.keys if self.keys is not None else self.data / "keys.json"

    @property
    def url(self) -> str:
        """Where the service is reached on this machine."""
        scheme = "http" if self.tls_certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}"

    @property
    def checkpoints_place(self) -> str:
        """The place of checkpoints: a path, or the URI of a filesystem that Arrow knows."""
        return self.checkpoints or str(self.data.resolve() / "checkpoints")

    @property
    def query_limits(self) -> Limits:
        """Limits on the cost of a query, which is checked before it is compiled."""
        return Limits(
            self.max_query_characters,
            self.max_query_words,
            self.max_query_nesting,
            self.max_query_subqueries,
        )

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key belong together: give both, or neither")
        for setting in ("tls_certificate", "tls_key"):
            file = getattr(self, setting)
            if file is not None and not file.is_file():
                raise ValueError(f"{setting}: there is no file {file}")
        return self

    @model_validator(mode="after")
    def _divide(self) -> Self:
        """Let shards on this machine have its memory between them, where it was not set."""
        if self.cluster is not None and self.spark_master.startswith("local"):
            for bound in {*_BOUNDS_BY_THE_MACHINE} - self.model_fields_set:
                setattr(self, bound, getattr(self, bound) // self.cluster.shards)
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, and that over the file."""
        try:
            file = TomlConfigSettingsSource(settings_cls)
        except (TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{TOML_FILE}: {error}") from error
        return init_settings, env_settings, file
