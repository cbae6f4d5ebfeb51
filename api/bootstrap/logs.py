"""Structured logs on stderr: one line per event, with the ids of the request, the query and the trace."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Collection
from functools import partial
from typing import Any

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from api.bootstrap.settings import LogFormat, LogLevel
from api.bootstrap.shown_settings import without_secrets
from service import tracing

_SILENCED = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j", "opentelemetry.exporter")
"""Loggers of Java stacks of errors that callers get as an answer, and of failures that are logged once."""

_FREE_TEXT = ("event", "exception", "detail", "reason", "sql", "rewritten_sql", "build", "relation")
"""Fields that may contain text from libraries and callers."""

_LONGEST_REASON = 2_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def configure_logging(
    level: LogLevel,
    format: LogFormat,  # noqa: A002
    secrets: Collection[str] = (),
) -> None:
    """Sends every line of this process, including those of libraries, to stderr through one formatter.

    May be called again; the last call counts. `secrets` are masked in texts of others, beside what looks
    like one.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _with_trace,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(shared, format, secrets))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.value)
    _quieten()


def _formatter(
    shared: list[Processor],
    format: LogFormat,  # noqa: A002
    secrets: Collection[str],
) -> logging.Formatter:
    masking = partial(_without_secrets, frozenset(secrets))
    rendering: list[Processor] = (
        [
            structlog.processors.format_exc_info,
            masking,
            structlog.processors.JSONRenderer(serializer=_json),
        ]
        if format is LogFormat.JSON
        else [
            structlog.processors.format_exc_info,
            masking,
            _one_line,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
    )


def _with_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    trace_id = tracing.trace_id()
    if trace_id is not None:
        event.setdefault("trace_id", trace_id)
    return event


def _json(event: EventDict, **_: Any) -> str:
    try:
        return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()
    except orjson.JSONEncodeError:
        return orjson.dumps({name: ascii(value) for name, value in event.items()}).decode()


def _without_secrets(
    secrets: Collection[str], _logger: WrappedLogger, _method: str, event: EventDict
) -> EventDict:
    # Messages and stacks of libraries may contain an address or a header that they were given.
    texts = {name: event[name] for name in _FREE_TEXT if isinstance(event.get(name), str)}
    shown = {name: without_secrets(text, secrets) for name, text in texts.items()}
    if "reason" in shown:
        # Spark's reasons are pages long. They are cut after masking: half of an address would not look like
        # one.
        shown["reason"] = shown["reason"][:_LONGEST_REASON]
    return {**event, **shown}


def _one_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    # Text from callers must not begin a line of its own.
    return {
        name: _indented(value) if name == "exception" else _escaped(value) for name, value in event.items()
    }


def _escaped(value: Any) -> Any:
    return _CONTROL.sub(lambda found: ascii(found.group())[1:-1], value) if isinstance(value, str) else value


def _indented(value: Any) -> str:
    return "\n".join("    " + _escaped(line) for line in str(value).splitlines())


def _quieten() -> None:
    for name in _SILENCED:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "alembic"):
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.access").disabled = True  # RequestLog writes the one line per request
