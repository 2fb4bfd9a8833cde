"""What can be configured: `ivm.toml` in the working directory, then `IVM_*` variables above it."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)


class Settings(BaseSettings):
    """Everything the service needs to start; sizes are in records or bytes, times in seconds."""

    model_config = SettingsConfigDict(env_prefix="IVM_", toml_file="ivm.toml", extra="forbid")

    data: Path = Path("data")
    topics: Path | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    workers: int = Field(default=1, ge=1)
    max_rounds: int = Field(default=10_000, ge=1)
    spark_master: str = "local[2]"
    spark_memory: str = "1g"
    batch_records: int = Field(default=100_000, ge=1)
    clock_seconds: float = Field(default=1.0, gt=0)
    on_error: Literal["quarantine", "stall"] = "quarantine"
    max_body_bytes: int = Field(default=2 << 20, ge=1)
    max_rows: int = Field(default=10_000, ge=1)
    max_query_characters: int = Field(default=1_000_000, ge=1)
    max_query_words: int = Field(default=20_000, ge=1)
    max_pairs: int = Field(default=100_000_000, ge=1)
    ready_seconds: float = Field(default=60.0, ge=0)
    wait_seconds: float = Field(default=30.0, ge=0)
    send_seconds: float = Field(default=30.0, gt=0)

    @property
    def topics_directory(self) -> Path:
        """The root of the file topics, inputs and deltas alike."""
        return self.topics if self.topics is not None else self.data / "topics"

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
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)
