"""Stream metrics that store the values they are given."""

from __future__ import annotations


class FakeStreamMetrics:
    def __init__(self) -> None:
        self.batch_count = 0
        self.codes: list[str] = []

    def batch_done(self) -> None:
        self.batch_count += 1

    def failed(self, code: str) -> None:
        self.codes.append(code)
