"""A statement that writes, before its checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from service.model.writes.writes import Write
from service.ports.engine.query_engine import Statement
from spark_session.engine.in_session import bind_views
from spark_session.session.warm_session import WarmSession
from spark_session.session.write_statements import ParsedWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWrite:
    """A statement and the child session that it runs in; `found` is what the guard has read of its text."""

    session: WarmSession
    child: SparkSession
    statement: Statement
    found: Mapping[str, Any]
    parsed: ParsedWrite
    write: Write

    def bind_views(self) -> Collection[str]:
        """Lets the child session read the temporary views that the statement names; returns their names."""
        return bind_views(self.session, self.child, self.statement, self.found["relations"])
