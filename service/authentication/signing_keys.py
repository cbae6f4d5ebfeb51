"""Caches the signing keys of one issuer, and says when to fetch them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.authentication.access_tokens import SigningKey
from service.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class SigningKeyTimes:
    """How long an issuer's keys count.

    Args:
        max_age_s: the age at which they are fetched again, in the background. At twice this age, requests
            wait for the fetch.
        cooldown_s: the least time between two fetches, whatever key ids tokens have.
        outage_s: how long they count while the issuer is down, counted from its last answer.
    """

    max_age_s: float = 300.0
    cooldown_s: float = 5.0
    outage_s: float = 86_400.0


class SigningKeys:
    """Keys by their ids. Never blocks. Its methods must be called on the event loop's thread."""

    def __init__(self, clock: Clock, times: SigningKeyTimes) -> None:
        self._clock = clock
        self._times = times
        self._keys: Mapping[str, SigningKey] = {}
        self._fetched_ms: int | None = None
        self._tried_ms: int | None = None
        self.has_failed = False
        """Whether the last fetch failed."""

    def find(self, key_id: str, algorithm: str) -> SigningKey | None:
        """Returns the key. Without an id, it is the only key that fits the algorithm."""
        if not self.has_keys:
            return None
        if key_id:
            return self._keys.get(key_id)
        fitting = [key for key in self._keys.values() if algorithm in key.algorithms]
        return fitting[0] if len(fitting) == 1 else None

    @property
    def has_keys(self) -> bool:
        """Whether there are keys that were fetched recently enough to count."""
        return bool(self._keys) and not self._is_older_than(self._fetched_ms, self._times.outage_s)

    def may_fetch(self) -> bool:
        """Whether keys may be fetched: the last fetch began at least `cooldown_s` ago."""
        return self._is_older_than(self._tried_ms, self._times.cooldown_s)

    def is_due(self) -> bool:
        """Whether the keys are old enough to be fetched again."""
        return self._is_older_than(self._fetched_ms, self._times.max_age_s) and self.may_fetch()

    def is_stale(self) -> bool:
        """Whether the keys are too old to be used without a fetch, as after a time without tokens.

        A key may have been withdrawn since. While the issuer is down, old keys are used without waiting.
        """
        return not self.has_failed and self._is_older_than(self._fetched_ms, 2 * self._times.max_age_s)

    def begin_fetch(self) -> None:
        """Notes that a fetch begins: the next one has to wait."""
        self._tried_ms = self._clock.elapsed_ms()

    def take(self, keys: Mapping[str, SigningKey]) -> None:
        """Replaces all keys by the current ones: a key that is no longer published does not count."""
        self._keys = dict(keys)
        self._fetched_ms = self._clock.elapsed_ms()
        self.has_failed = False

    def fail(self) -> None:
        """Notes that the issuer did not answer."""
        self.has_failed = True

    def _is_older_than(self, moment_ms: int | None, seconds: float) -> bool:
        return moment_ms is None or self._clock.elapsed_ms() - moment_ms >= seconds * 1000
