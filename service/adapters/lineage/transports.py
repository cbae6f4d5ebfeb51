"""Delivers events: one call for each delivery, each with a bound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import httpx
from confluent_kafka import KafkaError as DeliveryError
from confluent_kafka import KafkaException, Message, Producer

DEFAULT_PATH = "/api/v1/lineage"
_BUSY = frozenset({408, 425, 429})


class NotDelivered(Exception):
    """An event was not delivered. `may_try_again`: another attempt may succeed."""

    def __init__(self, reason: str, *, may_try_again: bool = True) -> None:
        super().__init__(reason)
        self.may_try_again = may_try_again


class Transport(Protocol):
    """Delivers events, one after the other. For one thread."""

    def send(self, event: bytes, key: str) -> None:
        """Returns once the event, JSON in one line, is delivered. Events of one key keep their order.

        Raises:
            NotDelivered: it was not delivered, as far as is known.
        """

    def close(self) -> None:
        """Releases its resources."""


class FileTransport:
    """Appends one line for each event. It opens the file each time, so that the file may be moved away."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, event: bytes, key: str) -> None:  # noqa: ARG002
        """See `Transport`."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # In one write: several gateways may share a file.
            with self._path.open("ab", buffering=0) as file:
                file.write(event + b"\n")
        except OSError as failure:
            raise NotDelivered(type(failure).__name__) from failure

    def close(self) -> None:
        """See `Transport`."""


def post_url(url: str) -> httpx.URL:
    """Returns the address to which events are posted."""
    address = httpx.URL(url)
    return address.copy_with(path=DEFAULT_PATH) if address.path in ("", "/") else address


class HttpTransport:
    """Posts each event. It does not follow redirects, which would receive the key too."""

    def __init__(self, url: str, api_key: str | None, timeout_s: float) -> None:
        self._url = post_url(url)
        headers = {"Content-Type": "application/json"}
        if api_key is not None:
            headers["Authorization"] = f"Bearer {api_key}"
        self._client = httpx.Client(headers=headers, timeout=timeout_s, follow_redirects=False)

    def send(self, event: bytes, key: str) -> None:  # noqa: ARG002
        """See `Transport`."""
        try:
            # The head of the answer is enough: a server that sends an endless body blocks nothing.
            with self._client.stream("POST", self._url, content=event) as answer:
                status = answer.status_code
        except httpx.HTTPError as failure:
            raise NotDelivered(type(failure).__name__) from failure
        if not 200 <= status < 300:
            raise NotDelivered(f"HTTP {status}", may_try_again=status >= 500 or status in _BUSY)

    def close(self) -> None:
        """See `Transport`."""
        self._client.close()


class KafkaTransport:
    """Sends each event to a topic, and waits until its partition has it."""

    def __init__(self, servers: str, topic: str, options: Mapping[str, str], timeout_s: float) -> None:
        self._topic = topic
        self._timeout_s = timeout_s
        self._producer = Producer(
            {
                "client.id": "sluice-lineage",
                "message.timeout.ms": round(timeout_s * 1000),
                "linger.ms": 0,
                # It would write to the error stream, bypassing the log.
                "log_level": 0,
                **options,
                "bootstrap.servers": servers,
            }
        )
        self._failure: DeliveryError | None = None

    def send(self, event: bytes, key: str) -> None:
        """See `Transport`."""
        self._failure = None
        try:
            self._producer.produce(self._topic, event, key.encode(), on_delivery=self._delivered)
            left = self._producer.flush(self._timeout_s)
        except (KafkaException, BufferError) as failure:
            raise NotDelivered(type(failure).__name__) from failure
        if left:
            self._producer.purge()
            self._producer.flush(0)
            raise NotDelivered("no answer in time")
        if self._failure is not None:
            raise NotDelivered(self._failure.name())

    def close(self) -> None:
        """See `Transport`."""
        self._producer.purge()
        self._producer.flush(0)

    def _delivered(self, failure: DeliveryError | None, _: Message) -> None:
        self._failure = failure
