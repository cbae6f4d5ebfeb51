"""Finds rows by their keys in one child session, and writes deletion vectors of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from service.errors.query_errors import QueryCanceled
from service.ports.tables.vector_writer import DeletedKeys, VectorsQuery, WrittenVectors
from spark_session.java.own_classes import java_instance
from spark_session.session.child_sessions import ChildSessions
from spark_session.session.key_join import equal_keys, stored_rows
from spark_session.session.local_relation_store import LocalRelationStore
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

_KEYS = "sluice_deleted_keys"


class VectorFiles:
    """Asks `DeletionVectors.java` of one JVM, with the keys as a relation of the child session."""

    def __init__(self, gateway: JavaGateway, children: ChildSessions, relations: LocalRelationStore) -> None:
        self._gateway = gateway
        self._children = children
        self._relations = relations

    def write(self, asked: VectorsQuery, tag: str, is_canceled: Callable[[], bool]) -> WrittenVectors | None:
        """Returns the written vectors; None: there are more rows. Its jobs carry the tag.

        Raises:
            QueryCanceled: it was canceled before it had jobs, which could have been stopped.
            PySparkException, Py4JJavaError: Spark cannot read the rows, or write the file.
        """
        places = java_instance(self._gateway, "sluice.tables.DeletionVectors")
        with self._children.taken(None, None, tag) as child:
            for piece in asked.pieces:
                columns = [f"key_{place}" for place in range(piece.keys.num_columns)]
                self._relations.bind_rows(child, _KEYS, piece.keys.rename_columns(columns))
                frame = child.sql(places_sql(asked, piece))
                if is_canceled():
                    raise QueryCanceled
                if int(places.add(frame._jdf)) > asked.max_rows:
                    return None
            name = table_sql_name(asked.key.table)
            written = places.write(child._jsparkSession, name, asked.snapshot_id)
        return WrittenVectors(tuple(written.vectors()), tuple(written.replaced()))


def places_sql(asked: VectorsQuery, piece: DeletedKeys) -> str:
    """Returns the text that finds the places of rows, by file; of one row more than are allowed at most."""
    stored = stored_rows(
        asked.key.table,
        asked.snapshot_id,
        piece.key_columns,
        piece.keys,
        ["`_file` AS `file`", "`_pos` AS `pos`"],
        has_current_names=piece.has_current_names,
    )
    return (
        "SELECT `file`, collect_list(`pos`) AS `pos` FROM ("
        f"SELECT /*+ BROADCAST(asked) */ stored.`file`, stored.`pos` FROM ({stored}) AS stored"
        f" LEFT SEMI JOIN {_KEYS} AS asked ON {equal_keys(len(piece.key_columns))}"
        f" LIMIT {asked.max_rows + 1}) GROUP BY `file`"
    )
