"""The text that callers read if an error has no detail."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from api.http.problems.http_errors import STATUS
from service.errors.gateway_error import GatewayError


def kinds(base: type[GatewayError]) -> Iterator[type[GatewayError]]:
    yield base
    for kind in base.__subclasses__():
        yield from kinds(kind)


KINDS = [kind for kind in dict.fromkeys(kinds(GatewayError)) if kind.__module__.startswith("service.errors")]


def test_the_table_of_statuses_imports_every_kind() -> None:
    assert set(KINDS) <= set(STATUS)


@pytest.mark.parametrize("kind", KINDS)
def test_no_caller_reads_what_is_meant_for_those_who_raise_it(kind: type[GatewayError]) -> None:
    summary = inspect.getdoc(kind)
    assert summary
    assert not {"`", "\n"} & set(summary.partition("\n\n")[0])
    # This skips the constructors of subclasses, which take other arguments.
    error = GatewayError.__new__(kind)
    GatewayError.__init__(error)
    assert error.detail == summary.partition("\n\n")[0]
