"""The Redis-protocol server that holds the keys. Each call is short, and fails in one way."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

import redis

from service.adapters.filters.cache_connection import CacheConnection
from service.adapters.filters.lease import LEASE_S, Lease
from service.adapters.filters.newest import NewestValues, is_of_another_type

# The number is the version of the values: replicas of two versions do not share them.
VALUES = "sluice:filter:1:"
SERIES = "sluice:filter-series:1:"
LEASES = "sluice:filter-lease:1:"
GENERATION = "sluice:filter-generation:1"
KEPT_ROWS = "sluice:filter-kept-rows:1:"
KEPT_NOTES = "sluice:filter-kept-notes:1:"

NOTES_READ = 64
"""No family has more notes, whatever the settings."""

SCANNED_AT_ONCE = 1000


class FilterServer(CacheConnection):
    """Every method but `ping` and `close` raises FilterCacheDown; at once if the server has just failed."""

    @property
    def _newest(self) -> NewestValues:
        return NewestValues(self.client)

    def read(self, fingerprint: str) -> bytes | None:
        """Returns the value; empty if a key of another type has the name."""
        return self._read(VALUES + fingerprint)

    def latest(self, series: str) -> bytes | None:
        """Returns the note on the value of the series that was stored last."""
        return self._read(SERIES + series)

    def supersede(self, fingerprint: str, within: timedelta) -> None:
        """Lets the value expire within that time."""
        with self.asking():
            self.client.pexpire(VALUES + fingerprint, within, lt=True)

    def _read(self, key: str) -> bytes | None:
        with self.asking():
            try:
                value = self.client.get(key)
            except redis.ResponseError as refusal:
                if not is_of_another_type(refusal):
                    raise
                return b""
        return _raw(value)

    def write(
        self,
        fingerprint: str,
        value: bytes,
        at: datetime,
        time_to_live: timedelta,
        latest_of: tuple[str, bytes] | None = None,
    ) -> None:
        """Stores the value, and replaces whatever is there.

        `latest_of` is the series that it is the latest value of, and the note on it.
        """
        with self.asking(), self.client.pipeline(transaction=False) as pipeline:
            pipeline.set(VALUES + fingerprint, value, px=time_to_live)
            if latest_of is not None:
                pipeline.set(SERIES + latest_of[0], latest_of[1], px=time_to_live)
            self._newest.add(pipeline, fingerprint, at, time_to_live)
            stored, *indexed = pipeline.execute(raise_on_error=False)
            if isinstance(stored, redis.RedisError):
                raise stored
            if latest_of is not None:
                indexed = indexed[1:]
            self._newest.mend(indexed)

    def kept_notes(self, family: str) -> Sequence[bytes]:
        """Returns the notes on the kept rows of the family, the newest first."""
        with self.asking():
            try:
                found = self.client.lrange(KEPT_NOTES + family, 0, NOTES_READ - 1)
            except redis.ResponseError as refusal:
                if not is_of_another_type(refusal):
                    raise
                return ()
        return [note for note in found if isinstance(note, bytes)]

    def kept_rows(self, fingerprint: str) -> bytes | None:
        """Returns the kept rows of a key set; empty if a key of another type has the name."""
        return self._read(KEPT_ROWS + fingerprint)

    def delete_note(self, family: str, note: bytes) -> None:
        """Deletes the note."""
        with self.asking():
            self.client.lrem(KEPT_NOTES + family, 0, note.decode())

    def keep(
        self, family: str, note: bytes, fingerprint: str, rows: bytes, time_to_live: timedelta, at_most: int
    ) -> Sequence[bytes]:
        """Stores kept rows and the note on them; returns the notes of the family, the newest first.

        All but the first `at_most` of them are deleted.
        """
        notes = KEPT_NOTES + family
        with self.asking(), self.client.pipeline(transaction=False) as pipeline:
            pipeline.set(KEPT_ROWS + fingerprint, rows, px=time_to_live)
            pipeline.lrem(notes, 0, note.decode())
            pipeline.lpush(notes, note)
            pipeline.lrange(notes, 0, -1)
            pipeline.ltrim(notes, 0, at_most - 1)
            pipeline.pexpire(notes, time_to_live)
            stored, *listed = pipeline.execute(raise_on_error=False)
            if isinstance(stored, redis.RedisError):
                raise stored
            if any(
                isinstance(answer, redis.ResponseError) and is_of_another_type(answer) for answer in listed
            ):
                self.client.unlink(notes)
        found = listed[2] if isinstance(listed[2], list) else []
        return [each for each in found if isinstance(each, bytes)]

    def delete_kept(self, fingerprint: str) -> None:
        """Deletes the kept rows of a key set."""
        with self.asking():
            self.client.unlink(KEPT_ROWS + fingerprint)

    def claim(self, fingerprint: str) -> Lease | None:
        """Returns the right to collect these keys, unless another replica has it."""
        with self.asking():
            lock = self.client.lock(LEASES + fingerprint, timeout=LEASE_S, blocking=False, thread_local=False)
            return Lease(lock, self.asking) if lock.acquire() else None

    def forget(self, fingerprint: str | None) -> int:
        """Deletes one value, or all, and returns how many there were."""
        with self.asking():
            if fingerprint is not None:
                # Each alone: in a cluster, different nodes may have them.
                self.client.unlink(KEPT_ROWS + fingerprint)
                count = int(self.client.unlink(VALUES + fingerprint))
            else:
                for kept in (KEPT_NOTES, KEPT_ROWS):
                    for batch in self._batches(kept):
                        self.client.unlink(*batch)
                count = sum(int(self.client.unlink(*batch)) for batch in self._batches(VALUES))
            # Last: a replica that sees the new generation does not find any of the deleted values.
            self.client.set(GENERATION, secrets.token_bytes(16))
        return count

    def generation(self) -> bytes | None:
        """A token that changes after each `forget` of any replica."""
        with self.asking():
            return _raw(self.client.get(GENERATION))

    def beginnings(self, length: int) -> Iterator[bytes]:
        """Yields the first `length` bytes of each value, the latest value first, and reads lazily."""
        fingerprints: Iterator[Sequence[str]] | None = None
        while True:
            with self.asking():
                fingerprints = fingerprints or self._newest.fingerprints()
                batch = next(fingerprints, ())
                answers = self._beginnings(batch, length)
            if not batch:
                return
            yield from answers

    def _beginnings(self, fingerprints: Sequence[str], length: int) -> Sequence[bytes]:
        with self.client.pipeline(transaction=False) as pipeline:
            for fingerprint in fingerprints:
                pipeline.getrange(VALUES + fingerprint, 0, length - 1)
            answers = pipeline.execute(raise_on_error=False)
        return [answer for answer in answers if isinstance(answer, bytes) and answer]

    def _keys(self, beginning: str) -> Iterator[bytes]:
        seen: set[bytes] = set()
        for key in self.client.scan_iter(match=f"{beginning}*", count=SCANNED_AT_ONCE):
            # A scan may name a key twice.
            if key not in seen:
                seen.add(key)
                yield key

    def _batches(self, beginning: str) -> Iterator[Sequence[bytes]]:
        keys = self._keys(beginning)
        while batch := list(islice(keys, SCANNED_AT_ONCE)):
            yield batch


def _raw(value: object) -> bytes | None:
    """Returns bytes, because the client decodes nothing; anything else is not a value of this cache."""
    return value if value is None or isinstance(value, bytes) else b""
