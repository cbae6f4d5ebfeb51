"""The text that callers read if an error has no detail."""

from __future__ import annotations

import inspect

import pytest

from service import errors

KINDS = [
    member
    for member in vars(errors).values()
    if inspect.isclass(member) and issubclass(member, errors.GatewayError) and member.__doc__
]


@pytest.mark.parametrize("kind", KINDS)
def test_no_caller_reads_what_is_meant_for_those_who_raise_it(kind: type[errors.GatewayError]) -> None:
    summary = inspect.getdoc(kind)
    assert summary
    assert not {"`", "\n"} & set(summary.partition("\n\n")[0])
    # This skips the constructors of subclasses, which take other arguments.
    error = errors.GatewayError.__new__(kind)
    errors.GatewayError.__init__(error)
    assert error.detail == summary.partition("\n\n")[0]
