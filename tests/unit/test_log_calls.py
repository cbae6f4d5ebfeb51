"""Log calls have one event each, names in one style, and no field that could hold a secret."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "service", "spark_session", "migrations")
LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
LOGGERS = frozenset({"log", "_log", "told", "logger", "_logger"})
EVENT = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
TAKEN = frozenset({"event", "level", "logger", "timestamp", "request_id", "trace_id", "exception"})
"""The fields that every line has."""
MASKED = frozenset({"detail", "reason"})
"""The fields that may contain foreign text, in which secrets are masked."""


def faults(source: str) -> list[str]:
    """Returns the faults of the module's log calls, each with its line."""
    tree = ast.parse(source)
    handlers = {
        id(node): handler
        for handler in ast.walk(tree)
        if isinstance(handler, ast.ExceptHandler)
        for node in ast.walk(handler)
    }
    return [
        f"{call.lineno}: {fault}"
        for call in log_calls(tree)
        for fault in _faults_of(call, handlers.get(id(call)))
    ]


def log_calls(tree: ast.AST) -> list[ast.Call]:
    """Returns the calls that write a line or bind fields."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _kind(node) is not None]


def _kind(call: ast.Call) -> str | None:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return None
    is_ours = function.value.id in LOGGERS and function.attr in {*LEVELS, "log", "bind"}
    return function.attr if is_ours else None


def _faults_of(call: ast.Call, handler: ast.ExceptHandler | None) -> Iterator[str]:
    kind = _kind(call)
    positional = call.args[1:] if kind == "log" else call.args
    if kind == "bind":
        if positional:
            yield "a bound field has no name"
    elif len(positional) != 1:
        yield "an event and nothing else stands without a name"
    elif not isinstance(positional[0], ast.Constant) or not isinstance(positional[0].value, str):
        yield "the event is made as it goes, so nobody can look for it"
    elif not EVENT.fullmatch(positional[0].value):
        yield f"the event {positional[0].value!r} is not in snake_case"
    if kind == "exception" and not _is_last_resort(handler):
        yield "a stack is for a defect: for an error that is expected, its code and its detail say more"
    for keyword in call.keywords:
        yield from _faults_of_field(keyword)


def _faults_of_field(field: ast.keyword) -> Iterator[str]:
    name = field.arg
    if name is None:
        return
    if not EVENT.fullmatch(name):
        yield f"the field {name} is not in snake_case"
    if name in TAKEN:
        yield f"the field {name} is on every line by itself"
    if name not in MASKED and _is_text_of_others(field.value):
        yield f"the field {name} has words of others, in which nothing is masked: name it reason or detail"
    if name == "error" and _is_attribute(field.value, "code"):
        yield "the field error is a class's name; a code goes into the field code"


def _is_text_of_others(value: ast.expr) -> bool:
    if _is_attribute(value, "detail"):
        return True
    is_call = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
    if not is_call or not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return False
    spelled = value.args[0] if value.func.id in ("str", "repr") and value.args else None
    return isinstance(spelled, ast.Name) and spelled.id in ("error", "failure", "down", "reason", "exc", "e")


def _is_attribute(value: ast.expr, name: str) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == name


def _is_last_resort(handler: ast.ExceptHandler | None) -> bool:
    kind = None if handler is None else handler.type
    return isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException")


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_every_call_is_in_the_one_style() -> None:
    found = {str(path.relative_to(ROOT)): faults(path.read_text(encoding="utf-8")) for path in modules()}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_the_calls_are_found() -> None:
    texts = [path.read_text(encoding="utf-8") for path in modules()]
    assert sum(len(log_calls(ast.parse(text))) for text in texts) > 70


def test_an_event_has_one_level_wherever_it_is_written_in_a_module() -> None:
    """With two levels for an event, a filter by level would show only half of its lines."""
    allowed = {"not_verified", "relation_not_fetched", "maintenance_failed", "query_failed", "jobs_not_told"}
    for path in modules():
        levels: dict[str, set[str]] = {}
        for call in log_calls(ast.parse(path.read_text(encoding="utf-8"))):
            kind = _kind(call)
            if kind in LEVELS and call.args and isinstance(call.args[0], ast.Constant):
                levels.setdefault(str(call.args[0].value), set()).add(str(kind))
        twice = {event for event, kinds in levels.items() if len(kinds) > 1} - allowed
        assert not twice, f"{path}: {twice}"


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        ("log.info('it started', a=1)", "snake_case"),
        ("log.info('Started')", "snake_case"),
        ("log.info(f'started_{name}')", "made as it goes"),
        ("log.warning('failed', failure)", "an event and nothing else"),
        ("log.info()", "an event and nothing else"),
        ("log.log(level, 'not good')", "snake_case"),
        ("log.warning('failed', cause=str(error))", "name it reason or detail"),
        ("log.warning('failed', why=failure.detail)", "name it reason or detail"),
        ("log.warning('failed', error=failure.code)", "goes into the field code"),
        ("log.warning('failed', request_id=1)", "on every line by itself"),
        ("log.warning('failed', queryId=1)", "snake_case"),
        ("log.bind('a')", "no name"),
        ("log.exception('failed')", "a stack is for a defect"),
        ("try:\n    pass\nexcept ValueError:\n    log.exception('failed')", "a stack is for a defect"),
    ],
)
def test_what_is_wrong_is_seen(call: str, fault: str) -> None:
    [found] = faults(call)
    assert fault in found


@pytest.mark.parametrize(
    "call",
    [
        "log.info('query_ended', rows=1, code=failure.code, reason=failure.detail)",
        "log.warning('failed', error=type(failure).__name__, reason=str(failure))",
        "log.log(level, 'request_ended', **fields)",
        "log.bind(table=str(key.table)).info('x')",
        "try:\n    pass\nexcept Exception:\n    log.exception('query_crashed')",
    ],
)
def test_what_is_right_is_let_be(call: str) -> None:
    assert faults(call) == []
