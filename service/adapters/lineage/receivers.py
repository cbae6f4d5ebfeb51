"""Checks that a receiver of lineage answers, without sending it an event."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from service.adapters.lineage.transports import NotDelivered, post_url


def asked_http(url: str, api_key: str | None, within_s: float) -> int:
    """Returns the status of a HEAD request to the event address. Redirects are not followed, as for events.

    Raises:
        NotDelivered: there is no answer.
    """
    headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
    try:
        return httpx.head(
            post_url(url), headers=headers, timeout=within_s, follow_redirects=False
        ).status_code
    except httpx.HTTPError as failure:
        raise NotDelivered(type(failure).__name__) from failure


def has_topic(servers: str, topic: str, options: Mapping[str, str], within_s: float) -> bool:
    """Whether the servers have the topic. It lists all topics: asking for one might create it.

    Raises:
        NotDelivered: they do not answer, or reject the login.
    """
    try:
        admin = AdminClient(
            {"client.id": "sluice-lineage", "log_level": 0, **options, "bootstrap.servers": servers}
        )
        return topic in admin.list_topics(timeout=within_s).topics
    except KafkaException as failure:
        raise NotDelivered(failure.args[0].name()) from failure
