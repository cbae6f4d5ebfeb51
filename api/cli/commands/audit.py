"""`sluice audit`: exports the audit log directly from the metrics store."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.wiring.build_audit import opened_audit_log
from api.cli.commands.audited_commands import command_event
from service.audit.event_lines import entry_line
from service.errors.gateway_error import CannotStart
from service.model.audit.events import Action, AuditEntry, AuditSelection
from service.ports.stores.audit_log import AuditLog

PAGE = 500


def export(since: str | None, until: str | None, after: int) -> None:
    """Prints the events as NDJSON, in the order in which they were stored. The export is audited itself.

    Raises:
        CannotStart: a time is not valid, or this version cannot use the metrics store.
        MetricsStoreDown: the metrics store does not answer.
    """
    selection = AuditSelection(after=after, since=_moment(since), until=_moment(until), limit=PAGE)
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    with opened_audit_log(settings) as log:
        log.add([command_event(Action.AUDIT_READ)])
        for entry in _entries(log, selection):
            sys.stdout.write(entry_line(entry))


def _entries(log: AuditLog, selection: AuditSelection) -> Iterator[AuditEntry]:
    while page := log.entries(selection):
        yield from page
        selection = replace(selection, after=page[-1].position)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CannotStart(f"{text} is not a time: write 2026-01-31 or 2026-01-31T12:00:00Z.") from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
