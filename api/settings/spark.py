"""What the engine is started with."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator

from api.settings.kinds import Words
from spark_session.settings import refusal_of


class EngineSettings(BaseModel):
    """What the engine is started with."""

    spark_master: str = Field("local[*]", min_length=1, description="local[…], spark://, k8s:// or yarn")
    spark_driver_memory: str = Field(
        "2g", pattern=r"^[1-9][0-9]{0,6}[kmgtKMGT]$", description="heap of the driver's JVM"
    )
    spark_packages: Words = Field(
        (
            "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
            "org.postgresql:postgresql:42.7.8",
        ),
        description="Maven coordinates that Spark resolves; Iceberg's bundle for S3 comes by itself",
    )
    spark_extra_packages: Words = Field(
        (), description="further Maven coordinates beside spark_packages, such as a database's JDBC driver"
    )
    spark_jars: Words = Field((), description="paths of jars; when given, spark_packages are not resolved")
    spark_conf: dict[str, str] = Field({}, repr=False, description="further properties of Spark")
    session_time_zone: str = Field(
        "UTC", min_length=1, max_length=64, description="time zone of every session"
    )

    @field_validator("spark_conf")
    @classmethod
    def _leaves_what_the_gateway_relies_on(cls, given: dict[str, str]) -> dict[str, str]:
        """What is overridden in silence would answer otherwise than the operator thinks."""
        for name, value in given.items():
            refusal = refusal_of(name, value)
            if refusal is not None:
                raise ValueError(refusal)
        return given
