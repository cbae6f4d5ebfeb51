"""Turns errors of Spark and Kafka that ended a stream into errors for its caller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.source_errors import StreamFailed, StreamSourceDown
from service.model.ingest.streams import DirectorySource, KafkaSource, StreamSource
from spark_session.spark_errors import sentence

log = structlog.get_logger(__name__)

NO_KAFKA = (
    "Spark has no Kafka connector here: where SLUICE_SPARK_JARS is set, it has to name those of "
    "org.apache.spark:spark-sql-kafka-0-10_2.13 too."
)
_NO_CONNECTOR = re.compile(
    r"Failed to find (the )?data source:? `?kafka|DATA_SOURCE_NOT_FOUND", re.IGNORECASE
)
_GONE = re.compile(
    r"KAFKA_DATA_LOSS|[Ss]ome data may have been (lost|missed)|OffsetOutOfRange|NoOffsetForPartition"
)
_NO_TOPIC = re.compile(r"UnknownTopicOrPartition|UNKNOWN_TOPIC_OR_PARTITION|UnknownTopicId")
# Only at the start: a folder that goes later just has no new files.
_NO_FOLDER = re.compile(r"\[PATH_NOT_FOUND\]")
# Errors that Kafka's clients call retriable, and names that do not resolve now.
_SILENT = re.compile(
    r"errors\.(Timeout|Disconnect|Network|LeaderNotAvailable|NotLeaderOrFollower|BrokerNotAvailable"
    r"|NotController|CoordinatorNotAvailable|CoordinatorLoadInProgress|KafkaStorage|OffsetNotAvailable"
    r"|ReplicaNotAvailable|FencedLeaderEpoch|UnknownLeaderEpoch)Exception"
    r"|No resolvable bootstrap urls|Cannot fetch record for offset"
)
_SECRET_OPTION = re.compile(r"jaas|password|secret|token|credential|key", re.IGNORECASE)
_QUOTED = re.compile(r"""["']([^"']+)["']""")
_MASK = "**********"


class StreamFailures:
    """The failures of one stream; `options` are its credentials, and are never shown."""

    def __init__(self, source: StreamSource, options: Mapping[str, str]) -> None:
        self._source = source
        self._secrets = _secrets(options)

    def of(self, words: Sequence[str]) -> GatewayError:
        """Returns the failure for a chain of causes, the outermost first."""
        return self.known(words) or StreamFailed(self.masked(sentence(words[0])))

    def known(self, words: Sequence[str]) -> GatewayError | None:
        """Returns the failure if it is one of the source, not of Spark."""
        text = "\n".join(words)
        match self._source:
            case KafkaSource():
                found = _of_topic(self._source, text)
            case DirectorySource():
                found = _of_folder(self._source, text)
        if found is not None:
            log.info("stream_source_failed", code=found.code, reason=self.masked(text))
        return found

    def masked(self, text: str) -> str:
        """Returns the text without the stream's credentials."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text


def _of_folder(source: DirectorySource, text: str) -> GatewayError | None:
    if _NO_FOLDER.search(text):
        return StreamSourceDown(
            f"There is no folder {source.uri}. The stream starts by itself as soon as the folder exists."
        )
    return None


def _of_topic(source: KafkaSource, text: str) -> GatewayError | None:
    if _NO_CONNECTOR.search(text):
        return StreamFailed(NO_KAFKA)
    where = f"topic {source.topic} of {source.bootstrap_servers}"
    if _GONE.search(text):
        return StreamFailed(
            f"Messages of {where} are gone that were not read yet: they were too old, or the topic was"
            " created again. Create another stream, which begins with the messages that exist."
        )
    if _NO_TOPIC.search(text):
        return StreamSourceDown(
            f"There is no {where}. The stream continues by itself as soon as it exists; for another"
            " topic create another stream."
        )
    if _SILENT.search(text):
        return StreamSourceDown(f"{source.bootstrap_servers} does not answer. The stream is tried again.")
    return None


def _secrets(options: Mapping[str, str]) -> tuple[str, ...]:
    """Returns every possible secret, the longest first.

    >>> _secrets({"kafka.sasl.jaas.config": 'x.Y required password="pw";', "kafka.security.protocol": "SSL"})
    ('x.Y required password="pw";', 'pw')
    """
    values = [value for name, value in options.items() if _SECRET_OPTION.search(name)]
    return tuple(sorted(_with_parts(values), key=len, reverse=True))


def _with_parts(values: Iterable[str]) -> set[str]:
    found = {value for value in values if value}
    return found | {part for text in found for part in _QUOTED.findall(text)}
