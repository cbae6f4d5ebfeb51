"""The nodes, functions and names that a query may have. How Spark reads it is tested on the real engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from spark_session.vetting.decision import Ruling, names_with
from spark_session.vetting.functions import (
    FUNCTIONS,
    NAMES_THE_CALLER,
    OFFERED,
    POLICY_SAFE,
    TABLE_FUNCTIONS,
)
from spark_session.vetting.plan_nodes import QUERY_NODES
from spark_session.vetting.vet import (
    allow_format_options,
    allow_functions,
    allow_nodes,
    allow_options,
    allow_relations,
    allow_table_functions,
)

NOT_A_QUERY = [
    "AddJar", "AppendData", "CacheTableAsSelect", "Call", "CreateTable", "CreateView", "DeleteFromTable",
    "DropTable", "InsertIntoStatement", "MergeIntoTable", "ScriptTransformation", "SetCommand",
    "SetCatalogCommand", "UpdateTable", "UnresolvedStarOfALaterSpark",
]  # fmt: skip


OUTSIDE = """
from_avro from_protobuf from_xml input_file_block_length input_file_block_start input_file_name java_method
reflect schema_of_avro schema_of_xml to_avro to_protobuf try_reflect
"""


@pytest.mark.parametrize("node", NOT_A_QUERY)
def test_a_node_that_no_query_has_is_refused_wherever_it_stands(node: str) -> None:
    for nodes in ([node], ["Project", node], [node, "Project"], ["Project", "Filter", node, "Project"]):
        with pytest.raises(StatementNotAllowed, match=node):
            allow_nodes(nodes)


@settings(deadline=None)
@given(st.lists(st.sampled_from(sorted(QUERY_NODES))))
def test_whatever_is_built_of_a_querys_nodes_passes(nodes: list[str]) -> None:
    allow_nodes(nodes)


@settings(deadline=None)
@given(st.text())
def test_what_is_not_listed_is_refused(node: str) -> None:
    if node not in QUERY_NODES:
        with pytest.raises(StatementNotAllowed):
            allow_nodes([node])


@pytest.mark.parametrize(
    "parts", [["/etc/table"], ["lake", "file:/data/t"], ["lake", "s3://b", "t"], ["lake", "t", "a/b"]]
)
def test_a_path_is_no_tables_name(parts: list[str]) -> None:
    with pytest.raises(StatementNotAllowed, match="path"):
        allow_relations([["lake", "tpcds", "item"], parts])


def test_names_pass_metadata_tables_and_odd_ones_too() -> None:
    allow_relations([["item"], ["lake", "tpcds", "item", "snapshots"], ["lake", "a b", "größe-1"]])
    allow_relations([])


@settings(deadline=None)
@given(st.sampled_from(sorted(FUNCTIONS)), st.sampled_from([[], ["builtin"], ["SYSTEM", "Builtin"]]))
def test_a_function_passes_by_each_of_its_names_or_by_none(name: str, qualifier: list[str]) -> None:
    for written in (name, name.upper()):
        if name in OFFERED:
            allow_functions([[*qualifier, written]])
        else:
            with pytest.raises(StatementNotAllowed, match=name):
                allow_functions([[*qualifier, written]])


@settings(deadline=None)
@given(st.text(min_size=1), st.lists(st.text(), max_size=3))
def test_a_function_that_is_not_listed_does_not_exist(name: str, qualifier: list[str]) -> None:
    if name.lower() not in FUNCTIONS and "system" not in qualifier:
        with pytest.raises(SqlInvalid):
            allow_functions([[*qualifier, name]])
    if name.lower() not in TABLE_FUNCTIONS:
        with pytest.raises(SqlInvalid):
            allow_table_functions([[*qualifier, name]])


def test_a_built_in_function_is_not_found_in_a_catalog() -> None:
    for qualifier in (
        ["lake"],
        ["lake", "shop"],
        ["spark_catalog", "default"],
        ["system", "session"],
        ["session"],
    ):
        with pytest.raises(SqlInvalid):
            allow_functions([[*qualifier, "abs"]])


def test_functions_of_iceberg_are_found_in_its_schema_only() -> None:
    allow_functions([["lake", "system", "bucket"], ["system", "TRUNCATE"]])
    for parts in (["bucket"], ["lake", "bucket"], ["lake", "shop", "bucket"]):
        with pytest.raises(SqlInvalid):
            allow_functions([parts])


def test_a_name_that_only_the_running_query_knows_is_refused() -> None:
    with pytest.raises(StatementNotAllowed, match="IDENTIFIER"):
        allow_functions([["abs"], [""]])
    with pytest.raises(StatementNotAllowed, match="map"):
        allow_format_options([("from_csv", "sep"), ("from_csv", None)])


def test_options_have_no_case() -> None:
    allow_options(["BRANCH", "Split-Size"])
    allow_format_options([("to_json", "PRETTY"), ("from_csv", "timestampformat")])
    for name in ("maxColumns", "MAXCOLUMNS", "inputbuffersize", "rowValidationXSDPath", "anything"):
        with pytest.raises(StatementNotAllowed):
            allow_format_options([("from_csv", name)])


def test_policies_may_call_only_what_is_offered() -> None:
    assert POLICY_SAFE <= OFFERED
    assert not POLICY_SAFE & NAMES_THE_CALLER
    assert "concat" in POLICY_SAFE
    for name in (
        "rand",
        "now",
        "current_user",
        "sum",
        "explode",
        "regexp_replace",
        "raise_error",
        "reflect",
        "x",
    ):
        assert name not in POLICY_SAFE, name


def test_what_reads_or_runs_something_outside_is_refused() -> None:
    assert set(OUTSIDE.split()) == names_with(FUNCTIONS, Ruling.REFUSED)
