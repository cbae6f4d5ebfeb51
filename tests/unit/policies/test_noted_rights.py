"""Rights that one replica notes are those that another one reads."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model.authentication.principals import NOBODY, Principal, PrincipalKind
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access, SchemaSight
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName
from service.policies.decided_access import MAX_NOTED, DecidedAccess, Notes
from service.policies.noted_rights import rights_of, rights_text

ANN = Principal("ann", PrincipalKind.OIDC, frozenset({"analyst", "é"}))
LEVELS = st.text("ab.é'\"\\", min_size=1, max_size=4)
NAMES = st.builds(TableName, st.sampled_from(["lake", "é"]), LEVELS, st.sampled_from(["t", "u'"]))
SHOWN = st.builds(
    Restriction,
    st.none() | st.text(max_size=5),
    st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=2).map(tuple),
)
SIGHTS = st.sampled_from([*SchemaSight, True, False])


def notes(below: st.SearchStrategy[Notes]) -> st.SearchStrategy[Notes]:
    return st.builds(
        Notes,
        st.dictionaries(st.tuples(st.sampled_from(Action), NAMES), SHOWN, max_size=3),
        st.dictionaries(st.tuples(LEVELS, LEVELS), SIGHTS, max_size=2),
        st.dictionaries(NAMES, st.none() | st.tuples(st.text(max_size=4), below), max_size=2),
    )


def decided(noted: Notes, principal: Principal = ANN) -> DecidedAccess:
    def renewed() -> Access:
        return FULL_ACCESS

    return DecidedAccess(FULL_ACCESS, renewed, principal, noted)


@given(st.recursive(st.just(Notes()), notes, max_leaves=6))
def test_notes_are_read_as_they_were_written(noted: Notes) -> None:
    text = rights_text(decided(noted))
    assert text is not None
    found = rights_of(text)
    assert found is not None
    assert (found.notes, found.principal.roles) == (noted, ANN.roles)


def test_a_principal_without_credentials_stays_one() -> None:
    text = rights_text(decided(Notes(), NOBODY))
    assert text is not None
    assert (found := rights_of(text)) is not None
    assert found.principal.kind is PrincipalKind.ANONYMOUS
    assert "ann" not in (rights_text(decided(Notes())) or "ann").replace("analyst", "")


def test_too_many_rights_are_not_noted_at_any_depth() -> None:
    full = Notes(seen={("lake", str(number)): True for number in range(MAX_NOTED)})
    assert rights_text(decided(full)) is None
    assert rights_text(decided(Notes(below={TableName("a", "b", "c"): ("digest", full)}))) is None
    long = Notes(seen={("lake", "x" * (1 << 20)): True})
    assert rights_text(decided(long)) is None


@pytest.mark.parametrize("part", ["version", "isAnonymous", "roles", "notes"])
@pytest.mark.parametrize("value", [None, 2, "x", [["x"]], {}], ids=str)
def test_another_text_gives_no_rights(part: str, value: object) -> None:
    text = rights_text(decided(Notes(allowed={(Action.SELECT, TableName("a", "b", "c")): Restriction()})))
    assert text is not None
    described = json.loads(text)
    if part in ("version", "notes"):
        assert rights_of(json.dumps(described | {part: value})) is None
    del described[part]
    assert rights_of(json.dumps(described)) is None
    for broken in ("", text[:-1], "[]", "7", "[" * 100_000):
        assert rights_of(broken) is None
