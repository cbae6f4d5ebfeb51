"""Meters that remember what they were given."""

from __future__ import annotations

from collections.abc import Sequence

from service.model.meters import MeterFamily, MeterKind, Sample
from service.model.query import QueryRecord


class FakeMeters:
    def __init__(self) -> None:
        self.records: list[QueryRecord] = []

    def count(self, record: QueryRecord) -> None:
        self.records.append(record)

    def families(self) -> Sequence[MeterFamily]:
        ended = [Sample(len(self.records), {})]
        return (MeterFamily("records_total", "Records.", MeterKind.COUNTER, ended),)
