"""What is known of texts that were analyzed, so that the engine need not be asked again."""

from __future__ import annotations

from dataclasses import replace

from service.bounded_lru import BoundedLru
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest, by_name
from service.model.query.reuse import QueryFacts, Reusability
from service.ports import Clock
from service.query.reuse.names_a_moment import names_a_moment
from service.query.reuse.result_key import TextKey, policy_fingerprint

MAX_TEXTS = 4096
MAX_BYTES = 32 << 20
REFUSED_FOR_MS = 60_000
"""A view may have been replaced, so a text that may not be reused is analyzed again after this time."""
_FIXED_BYTES = 4_000


class KnownTexts:
    """Caches facts by text, and whether it may be reused by text and policies. Any thread may call it.

    Facts are those of the views that they name: who uses them checks that these have not changed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._facts: BoundedLru[TextKey, QueryFacts] = BoundedLru(MAX_TEXTS, MAX_BYTES)
        self._judged: BoundedLru[tuple[TextKey, str], tuple[Reusability, int]] = BoundedLru(
            MAX_TEXTS, MAX_BYTES
        )

    def facts(self, text: TextKey) -> QueryFacts | None:
        """Returns what is known of the text."""
        return self._facts.get(text)

    def reusability(self, text: TextKey, policies: str) -> Reusability | None:
        """Returns whether the text may be reused with these policies; None if that is not known."""
        now_ms = self._clock.elapsed_ms()
        found = self._judged.get((text, policies))
        if found is None or (found[0] is not Reusability.REUSABLE and now_ms - found[1] > REFUSED_FOR_MS):
            return None
        return found[0]

    def learn(self, text: TextKey, facts: QueryFacts, request: QueryRequest, access: Access) -> QueryFacts:
        """Keeps facts that were read for a principal, and returns them with the final say on their reuse.

        Raises:
            TableAccessDenied, ViewChanged: the principal may not read something of it.
        """
        if _is_momentary(facts, request):
            facts = replace(facts, reusability=Reusability.TIME_DEPENDENT)
        size = _FIXED_BYTES + 2 * len(text.sql)
        self._facts.put(text, facts, size)
        judged = (facts.reusability, self._clock.elapsed_ms())
        self._judged.put((text, policy_fingerprint(facts, access)), judged, size)
        return facts

    def forget(self, text: TextKey) -> None:
        """Forgets the text: one of its views has changed."""
        self._facts.drop(text)


def _is_momentary(facts: QueryFacts, request: QueryRequest) -> bool:
    values = (parameter.value for parameter in by_name(request.parameters).values())
    texts = (request.sql, *facts.texts, *(value for value in values if isinstance(value, str)))
    return any(map(names_a_moment, texts))
