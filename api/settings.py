"""Settings of the service: `ivm.toml` in the working directory, overridden by `IVM_*` variables."""

from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from connectors.connections import Connection, named
from connectors.ingest.pipeline import Trigger
from ivm.pool import available_bytes
from views.limits import MOST_NESTED, Limits

TOML_FILE = "ivm.toml"
MOST_SECONDS = 1e9  # a thread cannot wait ten times as long


class Settings(BaseSettings):
    """Everything the service needs to start; sizes are in records or bytes, times in seconds.

    `connections` are Kafka clusters by the name that sources and sinks call them: tables
    `[connections.NAME]` of `ivm.toml`, or a JSON object in `IVM_CONNECTIONS`. `spark_jars` is where
    the jars of Spark's Kafka source are; with the `trigger` real-time, `spark_master` must run a
    task for each partition at once. `service` names the service in Kafka: its progress topic
    and its transactional ids begin with it. `transaction_seconds` bounds a transaction, and so how
    long readers wait behind one that a dead service left open. `event_bytes` bounds an event of a
    change feed that has more than one row, and an answer that stands in memory while it is taken;
    `send_seconds` how long a client takes nothing.
    """

    model_config = SettingsConfigDict(
        env_prefix="IVM_", toml_file=TOML_FILE, extra="forbid", hide_input_in_errors=True
    )

    service: str = Field(default="ivm", pattern=r"^[A-Za-z0-9._-]{1,100}$")
    data: Path = Path("data")
    topics: Path | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    workers: int = Field(default=1, ge=1)
    max_rounds: int = Field(default=10_000, ge=1)
    max_updates: int = Field(default=2_000_000_000, ge=1)
    max_recursion_bytes: int = Field(default_factory=lambda: available_bytes() // 4, ge=1)
    max_process_bytes: int = Field(default_factory=lambda: available_bytes() * 3 // 4, ge=1)
    max_recursion_seconds: float = Field(default=300.0, gt=0, le=MOST_SECONDS)
    spark_master: str = "local[2]"
    spark_memory: str = "1g"
    spark_jars: Path = Path("build/jars/spark")
    connections: Annotated[dict[str, Connection], BeforeValidator(named)] = {}
    transaction_seconds: float = Field(default=120.0, ge=1, le=MOST_SECONDS)
    trigger: Trigger = "micro-batch"
    batch_records: int = Field(default=100_000, ge=1)
    checkpoints: str | None = None
    checkpoint_seconds: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    checkpoint_records: int = Field(default=1_000_000, ge=1)
    checkpoints_kept: int = Field(default=2, ge=1)
    clock_seconds: float = Field(default=1.0, gt=0, le=MOST_SECONDS)
    on_error: Literal["stall", "quarantine"] = "stall"
    max_body_bytes: int = Field(default=2 << 20, ge=1)
    max_rows: int = Field(default=10_000, ge=1)
    max_query_characters: int = Field(default=1_000_000, ge=1)
    max_query_words: int = Field(default=100_000, ge=1)
    max_query_nesting: int = Field(default=MOST_NESTED, ge=1, le=MOST_NESTED)
    max_query_subqueries: int = Field(default=100, ge=0)
    max_pairs: int = Field(default=100_000_000, ge=1)
    ready_seconds: float = Field(default=60.0, ge=0, le=MOST_SECONDS)
    wait_seconds: float = Field(default=30.0, ge=0, le=MOST_SECONDS)
    max_followers: int = Field(default=1_000, ge=1)
    max_followers_per_client: int = Field(default=100, ge=1)
    event_bytes: int = Field(default=64 << 10, ge=1)
    send_seconds: float = Field(default=30.0, gt=0, le=MOST_SECONDS)

    @property
    def topics_directory(self) -> Path:
        """The root of the file topics, inputs and deltas alike."""
        return self.topics if self.topics is not None else self.data / "topics"

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
