"""The plan nodes and names that a query may have. How Spark reads a query is tested on the real engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import StatementNotAllowed
from spark_session.session.guard import QUERY_NODES, allow_nodes, allow_relations

NOT_A_QUERY = [
    "AddJar", "AppendData", "CacheTableAsSelect", "Call", "CreateTable", "CreateView", "DeleteFromTable",
    "DropTable", "InsertIntoStatement", "MergeIntoTable", "ScriptTransformation", "SetCommand",
    "SetCatalogCommand", "UpdateTable", "UnresolvedStarOfALaterSpark",
]  # fmt: skip


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
