"""Which streams run, what they may read, and where their progress is stored."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.bootstrap.settings.value_types import Words


class StreamSettings(BaseModel):
    """Which streams run, what they may read, and where their progress is stored."""

    stream_max_running: int = Field(
        20, ge=0, le=1000, description="streams that run at once, of all replicas together"
    )
    stream_checkpoints: str | None = Field(
        None,
        min_length=1,
        max_length=4096,
        description="address where Spark stores what streams have read; all replicas must see it;"
        " unset: in data_dir",
    )
    stream_kafka_servers: Words = Field(
        (),
        description="bootstrap servers, host:port, that streams may read from; with them Spark's connector is"
        " fetched; none: no Kafka",
    )
    stream_kafka_topics: Words = Field(
        ("*",), description="of these, the topics that streams may read, `*` for any part"
    )
    stream_kafka_options: dict[str, str] = Field(
        {}, repr=False, description="further options of Spark's Kafka source, such as kafka.security.protocol"
    )
