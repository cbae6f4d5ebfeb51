"""The text that callers read if an error has no detail."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys

import pytest

import service.errors
from api.http.problems.http_errors import STATUS
from service.errors.every_kind import every_kind
from service.errors.gateway_error import GatewayError

KINDS = [
    kind for kind in dict.fromkeys(every_kind(GatewayError)) if kind.__module__.startswith("service.errors")
]


def test_the_table_of_statuses_imports_every_kind() -> None:
    assert set(KINDS) <= set(STATUS)


def test_whoever_asks_for_every_kind_has_imported_all_areas() -> None:
    room = {module.name for module in pkgutil.iter_modules(service.errors.__path__, "service.errors.")}
    program = "import sys, service.audit.outcomes; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert room <= set(ended.stdout.split()), ended.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_no_caller_reads_what_is_meant_for_those_who_raise_it(kind: type[GatewayError]) -> None:
    summary = inspect.getdoc(kind)
    assert summary
    assert not {"`", "\n"} & set(summary.partition("\n\n")[0])
    # This skips the constructors of subclasses, which take other arguments.
    error = GatewayError.__new__(kind)
    GatewayError.__init__(error)
    assert error.detail == summary.partition("\n\n")[0]
