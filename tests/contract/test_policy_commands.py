"""`sluice policy` on a real store: show, export, import, decide and explain."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from api.cli.command_line import app
from service.adapters.policies.postgres_policies import PostgresPolicies
from tests.contract.test_policy_store import execute

FILE = """
roles:
  analyst:
    grants:
      - {tables: lake.sales.*, actions: [select]}
    denies:
      - {tables: lake.sales.salaries, actions: [select]}
    rowFilters:
      - {tables: lake.sales.orders, predicate: region = 'A'}
    masks:
      - {tables: lake.sales.orders, column: card, mask: last_four}
"""


class House:
    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.file = folder / "policies.yaml"
        self.file.write_text(FILE)

    def run(self, *words: str, status: int = 0) -> Result:
        ended = CliRunner().invoke(app, ["policy", *words], catch_exceptions=False)
        assert ended.exit_code == status, ended.output
        return ended

    def version(self) -> int:
        policies = PostgresPolicies(self.url)
        try:
            return policies.version()
        finally:
            policies.close()


@pytest.fixture
def house(metrics_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    execute(metrics_url, "TRUNCATE policies", "TRUNCATE policy_changes")
    monkeypatch.setenv("SLUICE_METRICS_STORE_URL", metrics_url)
    # No catalog answers, so that nothing else has to be started.
    monkeypatch.setenv("SLUICE_CATALOGS", '{"lake": {"type": "rest", "uri": "http://127.0.0.1:9"}}')
    monkeypatch.setenv("SLUICE_DATA_DIR", str(tmp_path / "data"))
    return House(metrics_url, tmp_path)


def test_a_file_is_tried_imported_and_exported_again(house: House) -> None:
    tried = house.run("import", "--no-check", "--dry-run", str(house.file))
    assert "+ analyst: row filter lake.sales.orders region = 'A'" in tried.stdout
    assert "this was a dry run" in tried.stdout
    assert "not checked" in tried.stderr
    assert house.version() == 0
    made = house.run("import", "--no-check", str(house.file))
    assert "version 1" in made.stdout
    assert "SLUICE_AUTHORIZATION=policies" in made.stderr
    exported = house.file.with_name("exported.yaml")
    house.run("export", str(exported))
    assert exported.read_text() == house.run("export").stdout
    assert "mask: last_four" in exported.read_text()
    assert "Nothing changes" in house.run("import", "--no-check", str(exported)).stdout
    assert house.version() == 1


def test_an_edited_export_changes_the_version_that_it_was_made_from(house: House) -> None:
    house.run("import", "--no-check", str(house.file))
    exported = house.run("export").stdout
    house.file.write_text(exported.replace("region = 'A'", "region = 'B'"))
    edited = house.run("import", "--no-check", str(house.file))
    assert "- analyst: row filter lake.sales.orders region = 'A'" in edited.stdout
    late = house.run("import", "--no-check", str(house.file), status=1)
    assert "their version is 2 now" in late.stderr


def test_a_fault_has_its_line(house: House) -> None:
    house.file.write_text(FILE.replace("[select]}", "[drop]}", 1))
    refused = house.run("import", str(house.file), status=1)
    assert f"{house.file}:5: /roles/analyst/grants/0/actions/0" in refused.stderr
    masks = FILE + "      - {tables: lake.sales.orders, column: CARD, mask: hash}\n"
    house.file.write_text(masks)
    refused = house.run("import", "--no-check", str(house.file), status=1)
    assert "another mask" in refused.stderr
    assert f"{house.file}:" in refused.stderr
    assert "cannot be read" in house.run("import", "nowhere.yaml", status=1).stderr
    assert house.version() == 0


def test_filters_are_not_imported_unchecked_by_mistake(house: House) -> None:
    refused = house.run("import", str(house.file), status=1)
    assert "does not answer" in refused.stderr or "No catalog" in refused.stderr
    assert house.version() == 0


def test_decisions_are_printed_and_are_the_status(house: House) -> None:
    house.run("import", "--no-check", str(house.file))
    allowed = house.run("decide", "--as", "analyst", "select", "lake.sales.orders").stdout.splitlines()
    assert allowed[:2] == ["lake.sales.orders: select is allowed", "  rows: ((region = 'A'))"]
    assert allowed[2].startswith("  card: CASE WHEN")
    denied = house.run("decide", "--as", "analyst", "select", "lake.sales.salaries", status=3)
    assert "a denial says so" in denied.stdout
    nothing = house.run("decide", "--as", "nobody", "--as", "x", "insert", "lake.sales.orders", status=3)
    assert "no grant allows it" in nothing.stdout
    assert "There is no action drop" in house.run("decide", "--as", "a", "drop", "a.b.c", status=1).stderr
    assert "full name" in house.run("decide", "--as", "a", "select", "orders", status=1).stderr


def test_a_query_is_explained_table_by_table(house: House) -> None:
    house.run("import", "--no-check", str(house.file))
    sql = "WITH c AS (SELECT 1) SELECT card FROM c, orders o JOIN lake.hr.pay USING (id)"
    explained = house.run("explain", "--as", "analyst", "--schema", "sales", sql, status=3).stdout
    assert "lake.sales.orders: select is allowed" in explained
    assert "lake.hr.pay: select is refused: no grant allows it" in explained
    assert "c: not decided here" in explained
    assert house.run("explain", "--as", "analyst", "SELECT 1 FROM lake.sales.x").stdout.count("allowed") == 1
    assert "cannot be read" in house.run("explain", "--as", "a", "SELECT FROM", status=1).stderr


def test_views_with_a_definer_are_imported_exported_shown_and_explained(house: House) -> None:
    definition = "3f" * 32
    house.file.write_text(
        FILE
        + f"""
  owner:
    definerViews:
      - {{view: lake.sales.By_Region, definition: {definition}}}
"""
    )
    made = house.run("import", "--no-check", str(house.file))
    assert f"+ owner: definer of view lake.sales.By_Region {definition}" in made.stdout
    exported = house.run("export").stdout
    assert f"view: lake.sales.By_Region\n      definition: {definition}" in exported
    # A known view keeps its definition if the file has none.
    house.file.write_text(exported.replace(f"      definition: {definition}\n", ""))
    assert "Nothing changes" in house.run("import", "--no-check", str(house.file)).stdout
    assert "definer of view" in house.run("show").stdout
    explained = house.run("explain", "--as", "analyst", "SELECT * FROM lake.sales.by_region").stdout
    assert "its tables are read with the rights of owner" in explained


def test_a_new_view_is_not_imported_unread(house: House) -> None:
    house.file.write_text(FILE + "\n  owner:\n    definerViews:\n      - {view: lake.sales.v}\n")
    refused = house.run("import", "--no-check", str(house.file), status=1)
    assert f"{house.file}:15: /roles/owner/definerViews/0/view: lake.sales.v: Write its `definition`" in (
        refused.stderr.replace("\n", " ")
    )
    assert house.version() == 0


def test_policies_are_shown_as_a_table(house: House) -> None:
    house.run("import", "--no-check", str(house.file))
    shown = house.run("show")
    assert "version 1" in shown.stderr
    assert "deny select" in shown.stdout
    assert "mask card" in shown.stdout
