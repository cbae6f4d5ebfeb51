"""Parses a query's text into its tree, and finds the places of its table references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from service.model.tables.sql import ParsedQuery, TableReference
from service.model.tables.tables import NOW
from service.pruning.sql_text.has_clear_comments import has_clear_comments
from service.pruning.sql_text.nesting import is_shallow
from service.pruning.sql_text.readable_words import readable_words
from service.pruning.sql_text.version_clause import version_clause

_SPARK = Spark()
_PLAIN = {"this", "db", "catalog", "alias", "joins"}


def parse(sql: str, zone: str | None = None) -> ParsedQuery | None:
    """Returns the query as a tree; None when it cannot be parsed as a query, or is dangerously deep.

    Times without a zone are in `zone`; without that they are not supported.

    >>> parsed = parse("SELECT * FROM lake.tpcds.item AS i")
    >>> [reference] = parsed.references
    >>> reference.parts, parsed.sql[reference.start : reference.end], reference.alias
    (('lake', 'tpcds', 'item'), 'lake.tpcds.item', 'i')
    >>> parse("SELECT FROM WHERE") is None
    True
    """
    if "|>" in sql or not has_clear_comments(sql):
        # sqlglot merges the steps of a pipe into one SELECT, even a LIMIT that comes before a join.
        return None
    text = readable_words(sql)
    try:
        tokens = _SPARK.tokenize(text)
        # The parser recurses on the C stack: a text nested deeply enough would end the process.
        trees = _SPARK.parser().parse(tokens, text) if is_shallow(tokens) else []
    except (SqlglotError, RecursionError, IndexError):
        # The last: in functions without the arguments that the parser expects, such as MAP(a).
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query) or not _has_all_words(trees[0], tokens):
        return None
    _share_places(trees[0])
    return ParsedQuery(sql, trees[0], tuple(_references(trees[0], sql, zone)))


class _Place(dict[str, Any]):
    """The place of a name in the text; copies of the name share it, and nothing changes it."""

    def __deepcopy__(self, memo: object) -> _Place:
        return self


def _share_places(tree: exp.Query) -> None:
    """Lets copies of a tree share the places of its names: to copy these takes half of a copy's time."""
    for identifier in tree.find_all(exp.Identifier):
        identifier._meta = _Place(identifier.meta)


def _has_all_words(tree: exp.Query, tokens: Sequence[Token]) -> bool:
    """Whether each AND and each plus of the text is in the tree.

    sqlglot accepts a BETWEEN without an AND of its own. It also drops the plus before a value, although that
    turns a text into a number.
    """
    ands = sum(token.token_type is TokenType.AND for token in tokens)
    read = (
        not isinstance(node, exp.WindowSpec) or bool(node.args.get("end"))
        for node in tree.find_all(exp.And, exp.Between, exp.WindowSpec)
    )
    if ands != sum(read):
        return False
    pluses = sum(token.token_type is TokenType.PLUS for token in tokens)
    return not pluses or pluses == sum(1 for _ in tree.find_all(exp.Add))


def _references(tree: exp.Query, sql: str, zone: str | None) -> Iterator[TableReference]:
    for table in tree.find_all(exp.Table):
        reference = _reference(table, sql, zone)
        if reference is not None and table.find_ancestor(exp.Hint) is None:
            yield reference


def _reference(table: exp.Table, sql: str, zone: str | None) -> TableReference | None:
    identifiers = table.parts
    if not all(_is_at_its_place(identifier, sql) for identifier in identifiers):
        return None
    alias, said = table.args.get("alias"), table.args.get("version")
    end = identifiers[-1].meta["end"] + 1
    clause = version_clause(sql, end, said, zone) if said is not None else None
    known = _PLAIN if clause is None else _PLAIN | {"version"}
    return TableReference(
        parts=tuple(identifier.name for identifier in identifiers),
        start=identifiers[0].meta["start"],
        end=end,
        alias=alias.name if alias is not None else None,
        is_plain=all(key in known for key, value in table.args.items() if value)
        and not table.alias_column_names,
        version=NOW if clause is None else clause.version,
        version_end=None if clause is None else clause.end,
        has_known_version=said is None or clause is not None,
        part_ends=tuple(identifier.meta["end"] + 1 for identifier in identifiers),
    )


def _is_at_its_place(identifier: exp.Expr, sql: str) -> bool:
    """Whether the text at the position is the identifier; identifiers in hints have other offsets."""
    start, end = identifier.meta.get("start"), identifier.meta.get("end")
    if not isinstance(identifier, exp.Identifier) or start is None or end is None:
        return False
    text = sql[start : end + 1]
    return text in (identifier.name, f"`{identifier.name.replace('`', '``')}`")
