"""Errors as people read them: code, detail, and the place in the SQL; or as one JSON document."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from sluice_client.cli.exits import WrongUsage, exit_code
from sluice_client.cli.source import InSource, Source
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.cli.terminal.screen import Style, note, style_of
from sluice_client.errors import GatewayError
from sluice_client.reported_problem import Fault, Problem

_SHOWN_FAULTS = 5
_WINDOW = 76


def show_error(error: BaseException, *, is_json: bool) -> None:
    """Writes an error to standard error."""
    if is_json:
        note(json.dumps(error_document(error), ensure_ascii=True))
        return
    source = error.source if isinstance(error, InSource) else Source("")
    reported = error.error if isinstance(error, InSource) else error
    for line in error_lines(reported, source, style_of(sys.stderr)):
        note(line)


def error_lines(error: BaseException, source: Source, style: Style) -> Iterator[str]:
    """Yields the lines for people. They have no character that a terminal obeys."""
    if isinstance(error, KeyboardInterrupt):
        yield "sluice: interrupted"
    elif isinstance(error, GatewayError):
        yield from _problem_lines(error.problem, source, style)
    else:
        first, *others = (str(error) or type(error).__name__).splitlines() or [type(error).__name__]
        yield f"{style.red('sluice:')} {safe_text(first)}"
        yield from (f"  {safe_text(line)}" for line in others[:_SHOWN_FAULTS])


def error_document(error: BaseException) -> dict[str, Any]:
    """Returns the problem as the gateway sent it, or one in the same form with a code of the client's own."""
    if isinstance(error, InSource):
        return error_document(error.error)
    if isinstance(error, GatewayError):
        return _document(error.problem)
    code = {KeyboardInterrupt: "INTERRUPTED", WrongUsage: "WRONG_USAGE"}.get(type(error))
    name = code or "".join(f"_{letter}" if letter.isupper() else letter for letter in type(error).__name__)
    return {
        "code": name.lstrip("_").upper(),
        "detail": str(error) or "interrupted",
        "exitCode": exit_code(error).value,
    }


def _document(problem: Problem) -> dict[str, Any]:
    known: dict[str, Any] = {
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "errors": [_fault_entry(fault) for fault in problem.faults],
        "queryId": problem.query_id,
        "ingestId": problem.ingest_id,
        "requestId": problem.request_id,
        "note": problem.note,
    }
    document = dict(problem.document) if problem.document is not None else {}
    mine = {name: value for name, value in known.items() if value is not None}
    return {
        name: value if isinstance(value, int | list) else str(value) for name, value in mine.items()
    } | document


def _fault_entry(fault: Fault) -> dict[str, Any]:
    names = ("detail", "pointer", "line", "column", "row", "field", "rule")
    entry = {name: getattr(fault, name) for name in names if getattr(fault, name) is not None}
    return entry | ({"nearest": list(fault.nearest)} if fault.nearest else {})


def _problem_lines(problem: Problem, source: Source, style: Style) -> Iterator[str]:
    yield f"{style.red(f'sluice: {safe_text(problem.code)}:')} {safe_text(problem.detail)}"
    for fault in problem.faults[:_SHOWN_FAULTS]:
        yield from _fault_lines(fault, problem.detail, source, style)
    if len(problem.faults) > _SHOWN_FAULTS:
        yield f"  and {len(problem.faults) - _SHOWN_FAULTS} more: --json-errors shows them"
    if problem.note is not None:
        yield safe_text(problem.note)
    if problem.query_id is not None:
        yield style.dim(f"query {problem.query_id}: `sluice explain {problem.query_id}` says more")
    if problem.ingest_id is not None:
        yield style.dim(f"ingest {problem.ingest_id}")


def _fault_lines(fault: Fault, detail: str, source: Source, style: Style) -> Iterator[str]:
    if source.sql and fault.line is not None and fault.column is not None:
        yield from _caret_lines(fault.line, fault.column, source, style)
    places = {"line": None if source.sql else fault.line, "row": fault.row, "field": fault.field}
    known = [f"{name} {value}" for name, value in places.items() if value is not None]
    parts = [", ".join([fault.pointer, *known] if fault.pointer else known)]
    parts += [fault.detail if fault.detail != detail else ""]
    parts += [f"nearest: {', '.join(fault.nearest)}" if fault.nearest else ""]
    if text := ": ".join(part for part in parts if part):
        yield f"  {safe_text(text)}"


def _caret_lines(line: int, column: int, source: Source, style: Style) -> Iterator[str]:
    """Yields the line of the SQL and a caret under the column, which counts from 1."""
    lines: Sequence[str] = source.sql.split("\n")
    if not 1 <= line <= len(lines):
        return
    from sluice_client.cli.terminal.cells import width

    text = lines[line - 1].rstrip("\r")
    at = min(max(column - 1, 0), len(text))
    start = max(0, at - _WINDOW // 2) if len(text) > _WINDOW else 0
    before = safe_text(text[start:at].replace("\t", " "))
    after = safe_text(text[at : start + _WINDOW].replace("\t", " "))
    head = f"{source.name + ':' if source.name else 'line '}{line + source.first_line - 1}: "
    head = safe_text(head) + ("…" if start else "")
    yield f"  {style.dim(head)}{before}{after}{'…' if start + _WINDOW < len(text) else ''}"
    yield f"  {' ' * (width(head) + width(before))}{style.red('^')}"
