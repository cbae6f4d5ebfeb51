"""Reports of progress as JSON that PostgreSQL can hold."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from service.adapters.postgres.shared.storable import storable
from service.model.query.replicas import ProgressReport

_REPORT = TypeAdapter(ProgressReport)


def progress_json(report: ProgressReport) -> dict[str, Any]:
    """Returns the report as JSON.

    >>> progress_json(ProgressReport())
    {'queue': None, 'progress': None}
    """
    found: dict[str, Any] = _storable(_REPORT.dump_python(report, mode="json"))
    return found


def progress_report(value: object) -> ProgressReport | None:
    """Returns the report; None: there is none, or another version wrote it in a form of its own.

    >>> progress_report({"queue": {"place": 1}}), progress_report(None)
    (None, None)
    """
    if value is None:
        return None
    try:
        return _REPORT.validate_python(value)
    except ValidationError:
        return None


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {key: _storable(entry) for key, entry in value.items()}
    return [_storable(entry) for entry in value] if isinstance(value, list) else value
