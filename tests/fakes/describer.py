"""A describer that knows the texts that a test has put."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.statement_errors import SqlSyntaxError
from service.model.query.description import Description
from service.model.query.results import Column
from service.ports.engine.query_engine import Statement


class FakeDescriber:
    """`columns` are those of each text; another text does not parse."""

    def __init__(self) -> None:
        self.columns: dict[str, Sequence[Column]] = {}
        self.asked: list[Statement] = []

    def describe(self, statement: Statement) -> Description:
        self.asked.append(statement)
        if statement.sql not in self.columns:
            raise SqlSyntaxError("Syntax error.", 1, 1)
        return Description(tuple(self.columns[statement.sql]))
