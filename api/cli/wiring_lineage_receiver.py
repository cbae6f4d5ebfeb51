"""Tries the receiver of lineage for `sluice check` and `sluice doctor`, without sending an event."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from api.bootstrap.settings import Settings
from api.cli.doctor.folders import permissions
from api.cli.part_checks import Found, State
from service.adapters.lineage.receivers import asked_http, has_topic
from service.adapters.lineage.transports import NotDelivered

CURE = "Correct SLUICE_LINEAGE_URL, or start the receiver that it names."


def lineage_receiver(settings: Settings, url: str) -> Found:
    """Returns what is found at the address that these settings send events to."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return _file(Path(unquote(parts.path)))
    try:
        return _kafka(settings, parts.netloc, parts.path) if parts.scheme == "kafka" else _http(settings, url)
    except NotDelivered as failure:
        return Found(f"It does not answer: {failure}.", State.FAILED, CURE)


def _file(path: Path) -> Found:
    if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
        return Found(f"{path} cannot be written.", State.FAILED, "Give this user write access to the file.")
    return permissions(path.parent, "SLUICE_LINEAGE_URL")


def _http(settings: Settings, url: str) -> Found:
    key = settings.lineage_api_key
    status = asked_http(url, None if key is None else key.get_secret_value(), settings.lineage_timeout_s)
    if status in (401, 403):
        return Found(f"refuses access: HTTP {status}", State.FAILED, "Correct SLUICE_LINEAGE_API_KEY.")
    if 300 <= status < 400:
        return Found(f"redirects, and events do not follow redirects: HTTP {status}", State.FAILED, CURE)
    if status >= 500:
        return Found(f"fails: HTTP {status}", State.FAILED, CURE)
    if status == 404:
        return Found("answers, and may not know the path: HTTP 404 to a HEAD", State.WARNING, CURE)
    return Found(f"answers: HTTP {status} to a HEAD")


def _kafka(settings: Settings, servers: str, path: str) -> Found:
    topic = path.strip("/")
    if has_topic(servers, topic, settings.lineage_kafka_options, settings.lineage_timeout_s):
        return Found(f"has the topic {topic}")
    cure = "Create the topic, unless the first event may create it."
    return Found(f"answers, and has no topic {topic}", State.WARNING, cure)
