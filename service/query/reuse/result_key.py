"""The keys of texts and of results: equal only if the engine would give the same rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from service.model.policies.decisions import Access
from service.model.policies.read_plan import ReadView
from service.model.query.query import Parameters, QueryRequest
from service.model.query.reuse import QueryFacts
from service.model.tables.tables import TableName
from service.policies.granted_reads import allow_unread, guarded_places
from service.query.reuse.normalized_text import normalized_text


@dataclass(frozen=True, slots=True)
class TextKey:
    """Equal for two requests whose texts the engine analyzes alike, as long as views and tables stay.

    It has nothing of a caller's session: those that read otherwise reuse no result.
    """

    sql: str
    parameters: str
    catalog: str | None
    schema: str | None

    @classmethod
    def of(cls, request: QueryRequest) -> TextKey:
        """Returns the key of a request."""
        return cls(
            normalized_text(request.sql),
            _text_of(request.parameters),
            request.catalog,
            request.schema,
        )


def policy_fingerprint(facts: QueryFacts, access: Access) -> str:
    """Returns what the principal sees of everything that the text reads; decides as the engine does.

    It is the same for two principals exactly if policies show both the same rows and values.

    Raises:
        TableAccessDenied: the principal, or the definer of a view, may not read something.
        ViewChanged: a view is no longer what its definer's rights were given to.
    """

    def definition(view: ReadView) -> str | None:
        return facts.definitions.get(view.parts)

    allow_unread(facts.plan, access, ())
    places = [
        [str(place.table), place.path, place.restriction.fingerprint, place.is_apart]
        for place in guarded_places(facts.plan, access, definition)
    ]
    return _digest(places) if places else ""


def result_key(
    text: TextKey,
    settings: str,
    policies: str,
    tables: Mapping[TableName, str],
    views: Mapping[TableName, str],
) -> str:
    """Returns the key of the result that the text has with these states of its tables and views."""
    states = [sorted((str(name), state) for name, state in named.items()) for named in (tables, views)]
    asked = [text.sql, text.parameters, text.catalog, text.schema]
    return _digest([asked, settings, policies, *states])


def _text_of(parameters: Parameters) -> str:
    if isinstance(parameters, Mapping):
        named = {name: [parameter.value, parameter.type_name] for name, parameter in parameters.items()}
        return json.dumps(named, sort_keys=True)
    return json.dumps([[parameter.value, parameter.type_name] for parameter in parameters])


def _digest(value: object) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()
