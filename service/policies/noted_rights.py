"""Writes down what policies allowed a query, so that any replica can ask whether they still do.

The text lies beside the rows of a result, where only gateways read and write.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from service.model.authentication.principals import Principal, PrincipalKind
from service.model.policies.actions import Action
from service.model.policies.decisions import SchemaSight
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName
from service.policies.decided_access import DecidedAccess, Notes

VERSION = 1
MAX_CHARACTERS = 1 << 20
"""Longer texts are not written: they would be read for each chunk."""


@dataclass(frozen=True, slots=True)
class NotedRights:
    """The rights that a query has used, and the principal that had them, known by its roles alone."""

    principal: Principal
    notes: Notes


def rights_text(access: DecidedAccess) -> str | None:
    """Returns the rights as a text; None if they are too many, or not all of them are known."""
    if _is_any_full(access.notes):
        return None
    text = json.dumps(
        {
            "version": VERSION,
            "isAnonymous": access.principal.kind is PrincipalKind.ANONYMOUS,
            "roles": sorted(access.principal.roles),
            "notes": _described(access.notes),
        }
    )
    return text if len(text) <= MAX_CHARACTERS else None


def rights_of(text: str) -> NotedRights | None:
    """Returns the rights that `rights_text` wrote; None if it did not write this, or another version did."""
    try:
        described = json.loads(text)
        if described["version"] != VERSION:
            return None
        kind = PrincipalKind.ANONYMOUS if described["isAnonymous"] else PrincipalKind.TOKEN
        principal = Principal("", kind, frozenset(map(str, described["roles"])))
        return NotedRights(principal, _notes(described["notes"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _is_any_full(notes: Notes) -> bool:
    below = tuple(notes.below.values())
    return notes.is_full or any(noted is not None and _is_any_full(noted[1]) for noted in below)


def _described(notes: Notes) -> dict[str, object]:
    # Copies, because another thread may still note what it asks.
    return {
        "allowed": [
            [action.value, str(table), shown.row_filter, shown.masks]
            for (action, table), shown in tuple(notes.allowed.items())
        ],
        "seen": [
            [catalog, schema, sight.value if isinstance(sight, SchemaSight) else sight]
            for (catalog, schema), sight in tuple(notes.seen.items())
        ],
        "below": [
            [str(view), None if noted is None else [noted[0], _described(noted[1])]]
            for view, noted in tuple(notes.below.items())
        ],
    }


def _notes(described: dict[str, Any]) -> Notes:
    return Notes(
        allowed={
            (Action(action), TableName.of(table)): Restriction(
                row_filter, tuple((column, mask) for column, mask in masks)
            )
            for action, table, row_filter, masks in described["allowed"]
        },
        seen={
            (catalog, schema): sight if isinstance(sight, bool) else SchemaSight(sight)
            for catalog, schema, sight in described["seen"]
        },
        below={
            TableName.of(view): None if noted is None else (noted[0], _notes(noted[1]))
            for view, noted in described["below"]
        },
    )
