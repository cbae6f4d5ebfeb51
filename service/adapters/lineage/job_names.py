"""Names of jobs: a repeated query or write has one job name, whatever its values."""

from __future__ import annotations

import hashlib
import re

from sqlglot import TokenType, tokenize
from sqlglot.errors import SqlglotError

from service.model.ingest.writing import MAIN, TableKey
from service.model.query.query import QueryRecord

TAG = "job"
_READABLE_TAG = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_VALUES = frozenset(
    {TokenType.STRING, TokenType.NUMBER, TokenType.HEX_STRING, TokenType.BIT_STRING, TokenType.BYTE_STRING}
)
_LONGEST_READ = 64 * 1024
_DIGITS = 16


def query_job(record: QueryRecord) -> str:
    """The job of a query: a hash of its text without values, with its tag `job` if that is plain."""
    shape = " ".join((text_shape(record.sql), str(record.catalog), str(record.schema)))
    digits = hashlib.sha256(shape.encode(errors="replace")).hexdigest()[:_DIGITS]
    tag = record.tags.get(TAG, "")
    return f"query.{tag}.{digits}" if _READABLE_TAG.fullmatch(tag) else f"query.{digits}"


def text_shape(sql: str) -> str:
    r"""Returns the text without values, comments and line breaks; if it cannot be parsed, as one line.

    >>> text_shape("SELECT a FROM t -- the first\nWHERE b = 'secret' AND c > 1.5")
    'select a from t where b = ? and c > ?'
    >>> text_shape("SELECT  'never closed")
    "SELECT 'never closed"
    """
    if len(sql) <= _LONGEST_READ:
        try:
            tokens = tokenize(sql, read="spark")
        except SqlglotError:
            pass
        else:
            return " ".join("?" if token.token_type in _VALUES else token.text.lower() for token in tokens)
    return " ".join(sql.split())


def table_job(kind: str, key: TableKey) -> str:
    """The job of a repeated operation on a table: `ingest`, `commit`, `compact`.

    >>> from service.model.tables.tables import TableName
    >>> table_job("commit", TableKey(TableName("lake", "shop", "sales"), "audit"))
    'commit.lake.shop.sales@audit'
    """
    return f"{kind}.{key.table}" if key.branch == MAIN else f"{kind}.{key.table}@{key.branch}"
