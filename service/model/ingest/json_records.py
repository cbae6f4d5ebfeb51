"""Records of a JSON body that are not parsed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import overload

Records = Sequence[Mapping[str, object]]


class JsonRecords(Sequence[Mapping[str, object]]):
    """Records as they were sent, which are parsed on first access.

    Each record is on a line of `lines`, in braces. The lines are valid UTF-8, and nothing else is certain:
    `parse`, which is called at most once, may raise.
    """

    __slots__ = ("_count", "_parse", "_values", "lines")

    def __init__(self, lines: bytes, count: int, parse: Callable[[], Records]) -> None:
        self.lines = lines
        self._count = count
        self._parse = parse
        self._values: Records | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        return iter(self._parsed())

    @overload
    def __getitem__(self, index: int) -> Mapping[str, object]: ...
    @overload
    def __getitem__(self, index: slice) -> Records: ...
    def __getitem__(self, index: int | slice) -> Mapping[str, object] | Records:
        return self._parsed()[index]

    def _parsed(self) -> Records:
        if self._values is None:
            self._values = self._parse()
        return self._values
