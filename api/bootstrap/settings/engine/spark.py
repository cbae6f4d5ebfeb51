"""How the engine is started."""

from __future__ import annotations

import re
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, Field, field_validator

from api.bootstrap.settings.value_types import GIB, Words
from spark_session.settings.settings import refusal_of

_MASTER = re.compile(r"local(\[(\*|\d+)(, ?\d+)?\])?|local-cluster\[\d+, ?\d+, ?\d+\]|(spark|k8s)://\S+|yarn")
_OFFSET = re.compile(r"(UTC|GMT|UT|Z)?([+-]\d{1,2}(:\d{2}){0,2})?")
_SIZE = re.compile(r"[1-9][0-9]{0,6}[kmgtKMGT]")


class EngineSettings(BaseModel):
    """How the engine is started."""

    spark_master: str = Field("local[*]", min_length=1, description="local[…], spark://, k8s:// or yarn")
    spark_driver_memory: str = Field(
        "2g", description="heap of the driver's JVM: a number followed by k, m, g or t"
    )
    spark_packages: Words = Field(
        (
            "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
            "org.postgresql:postgresql:42.7.8",
        ),
        description="Maven coordinates that Spark resolves; Iceberg's bundle for S3 is added by itself",
    )
    spark_extra_packages: Words = Field(
        (), description="further Maven coordinates beside spark_packages, such as a database's JDBC driver"
    )
    spark_jars: Words = Field((), description="paths of jars; when given, spark_packages are not resolved")
    jars_dir: Path | None = Field(
        None,
        description="folder that `sluice jars` fills; missing jars are fetched into it. Unset: in data_dir",
    )
    spark_conf: dict[str, str] = Field({}, repr=False, description="further properties of Spark")
    session_time_zone: str = Field(
        "UTC", min_length=1, max_length=64, description="time zone of every session"
    )
    planned_once_max_bytes: int = Field(
        0,
        ge=0,
        le=16 * GIB,
        description="a query that reads at most this many bytes, by its plan's estimate, is planned once,"
        " without adaptive execution and with as few shuffle partitions as its bytes need; 0: no query is",
    )

    comet: bool = Field(
        False,
        description="run natively what Apache DataFusion Comet can of queries' plans; its jar (99 MB) is"
        " fetched",
    )
    comet_memory: str = Field(
        "2g",
        description="with comet, memory beside the heap of each JVM that runs tasks, for native operators and"
        " Spark's own: a number followed by k, m, g or t",
    )

    @field_validator("spark_master")
    @classmethod
    def _is_a_master(cls, given: str) -> str:
        if not _MASTER.fullmatch(given):
            raise ValueError(
                f"{given!r} is not a Spark master, such as local[*], spark://host:7077 or k8s://https://host"
            )
        return given

    @field_validator("session_time_zone")
    @classmethod
    def _is_a_time_zone(cls, given: str) -> str:
        if not _OFFSET.fullmatch(given) and not _is_region(given):
            raise ValueError(f"{given!r} is not a time zone, such as UTC, +02:00 or Europe/Rome")
        return given

    @field_validator("spark_driver_memory", "comet_memory")
    @classmethod
    def _is_a_size(cls, given: str) -> str:
        if not _SIZE.fullmatch(given):
            raise ValueError(f"{given!r} is not a memory size, such as 512m or 2g")
        return given

    @field_validator("spark_conf")
    @classmethod
    def _leaves_what_the_gateway_relies_on(cls, given: dict[str, str]) -> dict[str, str]:
        """Rejects properties that the gateway would override without the operator noticing."""
        for name, value in given.items():
            refusal = refusal_of(name, value)
            if refusal is not None:
                raise ValueError(refusal)
        return given


def _is_region(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        # Without a time zone database on this machine the name cannot be checked: Spark brings its own.
        return not available_timezones()
    return True
