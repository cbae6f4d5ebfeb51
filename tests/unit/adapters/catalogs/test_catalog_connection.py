"""Questions to a catalog that answers one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from pyiceberg.catalog import Catalog

from service.adapters.catalogs.catalog_connection import CatalogConnection
from service.adapters.disk.synced_files import not_synced
from service.errors.unavailable import CatalogDown

WITHIN_S = 30


@pytest.fixture
def hive() -> Iterator[CatalogConnection]:
    """A Hive catalog connects when it is asked something, which nobody does here."""
    properties = {"type": "hive", "uri": "thrift://127.0.0.1:1", "warehouse": "file:///nowhere"}
    with closing(CatalogConnection("lake", properties, 0.05, not_synced)) as connection:
        yield connection


def name(catalog: Catalog) -> str:
    return catalog.name


def test_others_ask_while_a_question_waits_for_something_else(hive: CatalogConnection) -> None:
    def question(_: Catalog) -> list[str]:
        with hive.out_of_turn(), ThreadPoolExecutor(1) as other:
            return [other.submit(hive.ask, name).result(WITHIN_S)]

    assert hive.ask(question) == ["lake"]
    assert hive.ask(name) == "lake"


def test_a_question_has_its_turn_again_afterwards(hive: CatalogConnection) -> None:
    def question(_: Catalog) -> None:
        with pytest.raises(KeyError), hive.out_of_turn():
            raise KeyError
        with ThreadPoolExecutor(1) as other, pytest.raises(CatalogDown):
            other.submit(hive.ask, name).result(WITHIN_S)

    hive.ask(question)
    assert hive.ask(name) == "lake"
