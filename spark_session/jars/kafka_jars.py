"""Spark's Kafka connector, with its dependencies beyond the jars of PySpark."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
KAFKA_JARS = MappingProxyType(
    {
        f"{CONNECTOR}:4.1.3": "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
        # This one is older than the connector. It is tested with logins by SASL/PLAIN, not with delegation
        # tokens.
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1": (
            "ab6e27a8a47ce63348dd0ecbd5543dc6212b4783180305cde5749e79684ea97b"
        ),
        "org.apache.kafka:kafka-clients:3.9.1": (
            "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9"
        ),
        "org.apache.commons:commons-pool2:2.12.1": (
            "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef"
        ),
    }
)


def names_connector(coordinates: Sequence[str]) -> bool:
    """Whether the operator has chosen a connector already.

    >>> names_connector(["org.postgresql:postgresql:42.7.8"]), names_connector([f"{CONNECTOR}:4.1.1"])
    (False, True)
    """
    return any(coordinate.startswith(f"{CONNECTOR}:") for coordinate in coordinates)
