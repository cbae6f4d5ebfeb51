"""The rules for a session's values, and their changes."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from service.adapters.sessions.session_json import values_json, values_of
from service.errors.gateway_error import GatewayError
from service.errors.session_errors import (
    SessionNotFound,
    SessionSettingRefused,
    SessionTooLarge,
    SessionViewNotFound,
)
from service.errors.statement_errors import SqlInvalid
from service.model.sessions.session_changes import (
    DropView,
    ForgetMadeView,
    NoteMadeView,
    PutSettings,
    PutView,
    ResetSetting,
    UseSchema,
    ValueBounds,
)
from service.model.sessions.sessions import MadeView, SessionValues, SessionView
from service.session_values.changed import MADE_VIEWS, changed, values_bytes
from service.session_values.session_settings import OFFERED, setting_name, setting_value
from tests.fakes.sessions import fake_sessions

BOUNDS = ValueBounds()
A, B = SessionView("a", "SELECT 1"), SessionView("b", "SELECT * FROM a")


@pytest.mark.parametrize(
    ("name", "sent", "value"),
    [
        ("spark.sql.ansi.enabled", " FALSE ", "false"),
        ("SPARK.SQL.SESSION.TIMEZONE", "Europe/Berlin", "Europe/Berlin"),
        ("spark.sql.session.timeZone", "+02:00", "+02:00"),
        ("spark.sql.session.timeZone", "UTC", "UTC"),
        ("spark.sql.session.timeZone", "GMT-3", "GMT-3"),
        ("spark.sql.shuffle.partitions", "0200", "200"),
        ("spark.sql.storeAssignmentPolicy", "legacy", "LEGACY"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic", "DYNAMIC"),
        ("spark.sql.caseSensitive", "FALSE", "false"),
        ("spark.sql.timestampType", "timestamp_ltz", "TIMESTAMP_LTZ"),
    ],
)
def test_settings_are_spelled_as_the_engine_spells_them(name: str, sent: str, value: str) -> None:
    values = changed(SessionValues(), PutSettings({name: sent}), BOUNDS)
    assert values.settings == {setting_name(name): value}
    assert changed(values, ResetSetting(name.upper()), BOUNDS) == SessionValues()
    assert changed(values, ResetSetting(), BOUNDS) == SessionValues()


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("spark.sql.ansi.enabled", "maybe"),
        ("spark.sql.session.timeZone", "Europe/Nowhere"),
        ("spark.sql.session.timeZone", "+19:00"),
        ("spark.sql.session.timeZone", "../../etc/passwd"),
        ("spark.sql.shuffle.partitions", "0"),
        ("spark.sql.shuffle.partitions", "10001"),
        ("spark.sql.shuffle.partitions", "９"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ"),
        ("spark.sql.runSQLOnFiles", "true"),
        ("spark.sql.catalog.lake.uri", "x"),
        ("spark.wap.branch", "audit"),
        ("hive.exec.dynamic.partition", "true"),
        ("", "x"),
    ],
)
def test_other_settings_and_values_are_refused(name: str, sent: str) -> None:
    with pytest.raises(SessionSettingRefused):
        changed(SessionValues(), PutSettings({name: sent}), BOUNDS)


def test_each_offered_setting_says_what_it_takes() -> None:
    for name in OFFERED:
        with pytest.raises(SessionSettingRefused, match=name):
            setting_value(name, "nonsense")


def test_a_schema_is_used_with_its_catalog() -> None:
    values = changed(SessionValues("lake", "shop"), UseSchema("rest", None), BOUNDS)
    assert (values.catalog, values.schema) == ("rest", None)


def test_views_keep_their_place_when_they_are_replaced() -> None:
    values = SessionValues(views=(A, B))
    other = replace(A, name="A", sql="SELECT 2")
    assert changed(values, PutView(other), BOUNDS).views == (other, B)
    assert changed(values, PutView(other, keeps=True), BOUNDS) == values
    with pytest.raises(SqlInvalid, match="temporary view a"):
        changed(values, PutView(other, replaces=False), BOUNDS)
    assert values.view("B") is B
    assert values.before("b").views == (A,)
    assert values.before("A").views == ()
    assert values.before("new").views == (A, B)


def test_views_are_dropped_by_name() -> None:
    values = SessionValues(views=(A, B))
    assert changed(values, DropView("A"), BOUNDS).views == (B,)
    assert changed(values, DropView("nope", if_exists=True), BOUNDS) == values
    with pytest.raises(SessionViewNotFound, match="nope"):
        changed(values, DropView("nope"), BOUNDS)


def test_the_latest_views_that_a_session_has_made_are_remembered() -> None:
    values = SessionValues()
    made = [MadeView(("lake", "shop", f"v{number}"), "first") for number in range(MADE_VIEWS + 1)]
    again = replace(made[5], state="second")
    for view in (*made, again):
        values = changed(values, NoteMadeView(view), BOUNDS)
    assert values.made == (*made[1:5], *made[6:], again)
    assert values_of(values_json(values)) == values
    assert values_bytes(values) > MADE_VIEWS * 64
    assert changed(values, ForgetMadeView(again.name), BOUNDS).made == (*made[1:5], *made[6:])


def test_sessions_of_earlier_versions_have_made_no_views() -> None:
    found = values_json(SessionValues("lake", views=(A,)))
    del found["made"]
    assert values_of(found) == SessionValues("lake", views=(A,))


@pytest.mark.parametrize("name", ["", "1a", "a b", "a.b", "a`b", "ä", "a" * 129])
def test_a_views_name_is_a_plain_word(name: str) -> None:
    with pytest.raises(SqlInvalid, match="name"):
        changed(SessionValues(), PutView(SessionView(name, "SELECT 1")), BOUNDS)


def test_views_and_bytes_are_bounded() -> None:
    values = SessionValues(views=(A,))
    with pytest.raises(SessionTooLarge, match="1 temporary views"):
        changed(values, PutView(B), ValueBounds(max_views=1))
    size = values_bytes(replace(values, views=(A, B)))
    assert changed(values, PutView(B), ValueBounds(max_bytes=size)).views == (A, B)
    with pytest.raises(SessionTooLarge, match="bytes"):
        changed(values, PutView(B), ValueBounds(max_bytes=size - 1))


def test_others_do_not_find_a_session() -> None:
    sessions = fake_sessions()
    session_id = sessions.create("ada", "lake", "shop", {}).session_id
    asks = (
        lambda caller, of: sessions.use(of, caller),
        lambda caller, of: sessions.values(of, caller),
        lambda caller, of: sessions.change(of, caller, ResetSetting()),
        lambda caller, of: sessions.put_view(of, caller, A),
        lambda caller, of: sessions.drop_view(of, caller, "v"),
        lambda caller, of: sessions.end(of, caller),
    )
    for ask in asks:
        for caller, of in (("bob", session_id), ("ada", UUID(int=0))):
            with pytest.raises(SessionNotFound):
                ask(caller, of)
    assert sessions.use(session_id, "ada").values == SessionValues("lake", "shop")


def test_a_view_keeps_the_catalog_and_schema_of_its_names() -> None:
    sessions = fake_sessions()
    session_id = sessions.create("ada", "lake", "shop", {}).session_id
    view = SessionView("v", "SELECT * FROM orders", "lake", "shop")
    sessions.put_view(session_id, "ada", view)
    found = sessions.change(session_id, "ada", UseSchema("rest", "hr"))
    assert found.values.views == (view,)
    assert sessions.drop_view(session_id, "ada", "V").values.views == ()
    sessions.end(session_id, "ada")
    with pytest.raises(GatewayError):
        sessions.use(session_id, "ada")
