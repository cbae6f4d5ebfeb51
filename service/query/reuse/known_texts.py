"""What is known of texts that were analyzed, so that the engine need not be asked again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256

from service.bounded_lru import BoundedLru
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest, by_name
from service.model.query.reuse import QueryFacts, Reusability
from service.ports.clock import Clock
from service.query.reuse.names_a_moment import names_a_moment
from service.query.reuse.result_key import TextKey, policy_fingerprint

MAX_TEXTS = 4096
MAX_BYTES = 32 << 20
REFUSED_FOR_MS = 60_000
"""A view may have been replaced, so a text that may not be reused is analyzed again after this time."""
_FIXED_BYTES = 4_000


class KnownTexts:
    """Caches facts by text, and whether it may be reused by text and policies. Any thread may call it.

    Facts are those of one definition of the views and columns that they name. Who uses them checks that these
    are the present ones, and forgets the text otherwise.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._facts: BoundedLru[TextKey, _Known] = BoundedLru(MAX_TEXTS, MAX_BYTES)
        self._decided: BoundedLru[tuple[TextKey, str, str], _Decided] = BoundedLru(MAX_TEXTS, MAX_BYTES)

    def facts(self, text: TextKey) -> QueryFacts | None:
        """Returns what is known of the text."""
        known = self._facts.get(text)
        return None if known is None else known.facts

    def reusability(self, text: TextKey, policies: str) -> Reusability | None:
        """Returns whether the text may be reused with these policies; None if that is not known."""
        known = self._facts.get(text)
        found = None if known is None else self._decided.get((text, policies, known.definition))
        if found is None:
            return None
        is_old = self._clock.elapsed_ms() - found.at_ms > REFUSED_FOR_MS
        return None if is_old and found.reusability is not Reusability.REUSABLE else found.reusability

    def learn(self, text: TextKey, facts: QueryFacts, request: QueryRequest, access: Access) -> None:
        """Keeps facts that were read for a principal.

        Raises:
            TableAccessDenied, ViewChanged: the principal may not read something of it.
        """
        known = _Known(facts, _definition_of(facts))
        reusability = Reusability.TIME_DEPENDENT if _is_momentary(facts, request) else facts.reusability
        size = _FIXED_BYTES + 2 * len(text.sql)
        self._facts.put(text, known, size)
        key = (text, policy_fingerprint(facts, access), known.definition)
        self._decided.put(key, _Decided(reusability, self._clock.elapsed_ms()), size)

    def forget(self, text: TextKey) -> None:
        """Forgets the text: one of its views or columns has changed."""
        self._facts.drop(text)


@dataclass(frozen=True, slots=True)
class _Known:
    facts: QueryFacts
    definition: str


@dataclass(frozen=True, slots=True)
class _Decided:
    reusability: Reusability
    at_ms: int


def _definition_of(facts: QueryFacts) -> str:
    """Returns a text that is the same only for analyses of the same views and columns."""
    views = sorted((str(view), state) for view, state in facts.views.items())
    columns = sorted({(str(read.table), read.columns) for read in facts.reads})
    return sha256(json.dumps([views, columns]).encode()).hexdigest()


def _is_momentary(facts: QueryFacts, request: QueryRequest) -> bool:
    values = (parameter.value for parameter in by_name(request.parameters).values())
    texts = (request.sql, *facts.texts, *(value for value in values if isinstance(value, str)))
    return any(map(names_a_moment, texts))
