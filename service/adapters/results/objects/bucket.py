"""The objects below one prefix of a bucket."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import IO, Any

from service.adapters.results.objects.store_access import StoreAccess
from service.adapters.results.objects.store_failures import REFUSED, ObjectGone, failure_of, is_silent
from service.circuit import Circuit
from service.errors.query_errors import ResultStoreDown
from service.ports.clock import Clock

PIECE_BYTES = 256 << 10
DELETED_AT_ONCE = 1000
LISTED_AT_ONCE = 1000
REST_MS = 10_000
"""For so long after a failure, nobody waits for the store again."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object below the prefix, by its steps from there on."""

    steps: tuple[str, ...]
    modified: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """An object's bytes, and the store's name for this version of it."""

    data: bytes
    tag: str


class Bucket:
    """Reads, writes, lists and deletes objects. Any thread may call any method.

    All methods raise `ResultStoreDown` if the store does not answer in time, or refuses. If it did not
    answer, they do so at once for a while.
    """

    def __init__(self, access: StoreAccess, clock: Clock) -> None:
        self.access = access
        self._circuit = Circuit(clock, REST_MS)

    @cached_property
    def _client(self) -> Any:
        return self.access.client()

    def put(self, data: bytes | IO[bytes], *steps: str) -> None:
        """Writes an object, as a whole or not at all."""
        with self._asking():
            self._client.put_object(Bucket=self.access.bucket, Key=self.access.key(*steps), Body=data)

    def get(self, *steps: str, known_tag: str | None = None) -> Found | None:
        """Returns an object; None if its version is still the known one.

        Raises:
            ObjectGone: it does not exist.
        """
        condition = {} if known_tag is None else {"IfNoneMatch": known_tag}
        with self._asking():
            try:
                answer = self._client.get_object(
                    Bucket=self.access.bucket, Key=self.access.key(*steps), **condition
                )
            except self._client.exceptions.ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == 304:
                    return None
                raise
            return Found(self._body(answer), _field(answer, "ETag"))

    def get_range(self, first: int, last: int, *steps: str) -> bytes:
        """Returns the bytes of an object from `first` until before `last`.

        Raises:
            ObjectGone: it does not exist, or is shorter.
        """
        with self._asking():
            answer = self._client.get_object(
                Bucket=self.access.bucket, Key=self.access.key(*steps), Range=f"bytes={first}-{last - 1}"
            )
            if _field(answer, "ContentLength") != last - first:
                # An object that ends there says so; a whole one, or the answer of a proxy, is not the range.
                raise ObjectGone if "ContentRange" in answer else ResultStoreDown
            return self._body(answer)

    def list(self, *steps: str, after: str = "", at_most: int | None = None) -> list[Listed]:
        """Lists the objects below these steps in the order of their keys, as far as `at_most` of them.

        `after` is a key that the first one comes after.
        """
        with self._asking():
            return [*islice(self._listed(self.access.key(*steps, ""), after), at_most)]

    def delete(self, names: Sequence[tuple[str, ...]]) -> None:
        """Deletes objects by their steps; those that do not exist are deleted already."""
        for start in range(0, len(names), DELETED_AT_ONCE):
            keys = [{"Key": self.access.key(*steps)} for steps in names[start : start + DELETED_AT_ONCE]]
            with self._asking():
                answer = self._client.delete_objects(
                    Bucket=self.access.bucket, Delete={"Objects": keys, "Quiet": True}
                )
            if answer.get("Errors"):
                raise ResultStoreDown(REFUSED)

    def check(self) -> ResultStoreDown | None:
        """Asks the store, also if it did not answer a moment ago; returns why it cannot be used."""
        try:
            with self._reported():
                next(self._listed(self.access.key(""), "", at_once=1), None)
        except ResultStoreDown as failure:
            return failure
        return None

    def _listed(self, prefix: str, after: str, at_once: int = LISTED_AT_ONCE) -> Iterator[Listed]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self.access.bucket, Prefix=prefix, StartAfter=after, MaxKeys=at_once
        )
        start = len(self.access.key("")) if self.access.prefix else 0
        for page in pages:
            _field(page, "IsTruncated")
            for found in page.get("Contents", ()):
                yield Listed(tuple(found["Key"][start:].split("/")), found["LastModified"])

    def _body(self, answer: Any) -> bytes:
        """Reads all of it within the time of an answer: a store may send a byte now and then."""
        length = _field(answer, "ContentLength")
        deadline = time.monotonic() + max(self.access.timeout_s, length / (1 << 20))
        data = bytearray()
        # This is the stream below the client's own, whose reads wait for all bytes that they ask for. It
        # neither checks the length nor turns its errors into the client's.
        with answer["Body"] as stream:
            while piece := stream.read1(PIECE_BYTES):
                data += piece
                if time.monotonic() > deadline:
                    raise ResultStoreDown
        if len(data) != length:
            raise ResultStoreDown
        return bytes(data)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        if not self._circuit.lets_through():
            raise ResultStoreDown
        with self._reported():
            yield

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turns the client's errors into ours, and notes whether the store answered."""
        try:
            yield
        except Exception as error:
            failure = failure_of(error)
            if failure is None:
                raise
            if is_silent(error):
                self._circuit.note_failure()
            else:
                self._circuit.note_answer()
            if failure is error:
                raise
            raise failure from error
        self._circuit.note_answer()


def _field(answer: Any, name: str) -> Any:
    """Returns what each answer of a store has; a proxy before it may have an answer of its own."""
    if name not in answer:
        raise ResultStoreDown
    return answer[name]
