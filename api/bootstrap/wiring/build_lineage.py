"""Wires the parts of lineage, for `api.bootstrap.wiring.build_gateway`."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.lineage.dataset_names import DatasetNames
from service.adapters.lineage.emitter import EmitterBounds, LineageEmitter, LineageMetrics
from service.adapters.lineage.lineage_tables import KnownTables
from service.adapters.lineage.query_run_events import QueryEvents
from service.adapters.lineage.transports import FileTransport, HttpTransport, KafkaTransport, Transport
from service.adapters.lineage.write_events import WriteEvents
from service.ports.clock import Clock
from service.ports.telemetry.lineage import Lineage


def build_lineage(
    settings: Settings, components: Components, clock: Clock, metrics: LineageMetrics, url: str
) -> Lineage:
    """Sends events about runs from now on, until the parts are closed."""
    namespace = settings.lineage_namespace
    names = DatasetNames(components.catalog_settings, namespace)
    # Needed until the emitter has ended: the stack closes what it got first last.
    tables = KnownTables(components.all_catalogs)
    emitter = LineageEmitter(
        QueryEvents(namespace, names, tables, settings.lineage_sql_enabled),
        WriteEvents(namespace, names, tables),
        _transport(settings, url),
        metrics,
        clock,
        EmitterBounds(queue_events=settings.lineage_queue_events, timeout_s=settings.lineage_timeout_s),
    )
    components.stack.callback(emitter.close)
    return emitter


def _transport(settings: Settings, url: str) -> Transport:
    components = urlsplit(url)
    timeout_s = settings.lineage_timeout_s
    if components.scheme == "file":
        return FileTransport(Path(unquote(components.path)))
    if components.scheme == "kafka":
        topic = components.path.strip("/")
        return KafkaTransport(components.netloc, topic, settings.lineage_kafka_options, timeout_s)
    key = settings.lineage_api_key
    return HttpTransport(url, None if key is None else key.get_secret_value(), timeout_s)
