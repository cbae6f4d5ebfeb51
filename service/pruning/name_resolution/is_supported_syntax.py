"""Do the names and positions in a query mean the same to the parser and to Spark?"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sqlglot import exp

from service.pruning.name_resolution.join_trees import joins_of, relations_of

# Every relation of a SELECT is compared with every other.
MAX_JOINS = 64
# Without an alias, these may be several columns to Spark; so may functions that the parser does not know.
_SEVERAL = (exp.Aliases, exp.UDTF, exp.Anonymous)
_LOOKED_AT = (
    exp.Anonymous,
    exp.CTE,
    exp.Fetch,
    exp.Having,
    exp.Identifier,
    exp.Join,
    exp.Limit,
    exp.Offset,
    exp.Pivot,
    exp.Qualify,
    exp.Select,
    exp.Table,
    exp.TableSample,
)
# Words before JOIN. To Spark such a word is not a name, so the word before it is one, and an alias.
_OF_JOINS = frozenset({"left", "right", "full", "inner", "cross", "semi", "anti", "natural", "outer"})
# The qualifier's names for relations and columns that have none.
_MADE_UP = re.compile(r"_(col_)?[0-9]+", re.IGNORECASE)
# The name here, followed by a number, of a column whose name only the engine knows.
UNNAMED = "?column?"
_NO_NAMES = ("table", "stream")


def is_supported_syntax(tree: exp.Query) -> bool:
    """Returns False for a query that the qualifier would misread, as far as the text alone shows.

    Checks that need the columns of its tables come after it is qualified (`matches_spark_resolution`).

    >>> from sqlglot import parse_one
    >>> texts = ["SELECT 1 FROM a JOIN b USING (k)", "SELECT 1 FROM x, a JOIN b USING (k)"]
    >>> [is_supported_syntax(parse_one(text, read="spark")) for text in texts]
    [True, False]
    """
    nodes: dict[type[exp.Expr], list[exp.Expr]] = {kind: [] for kind in _LOOKED_AT}
    # One walk for all checks, because every new text is checked.
    for node in tree.walk():
        if type(node) in nodes:
            nodes[type(node)].append(node)
    common = {node.alias.lower() for node in nodes[exp.CTE]}
    return (
        # To Spark, FETCH and QUALIFY are aliases, so the tables have other names.
        not nodes[exp.Fetch]
        and not nodes[exp.Qualify]
        and not any(map(_is_misleading, nodes[exp.Identifier]))
        # So are these where names in parentheses follow.
        and not any(map(_is_called_by_a_clause, (*nodes[exp.Having], *nodes[exp.Limit], *nodes[exp.Offset])))
        # IDENTIFIER(…) names something that only the engine knows.
        and not any(node.name.lower() == "identifier" for node in nodes[exp.Anonymous])
        and all(map(_is_table_clear, nodes[exp.Table]))
        and not any(
            _is_without_size(node) or _hides_its_rows(node, common) for node in nodes[exp.TableSample]
        )
        # To Spark, a PIVOT applies to everything that is joined before it.
        and not any(isinstance(node.parent, exp.Join) or _is_of_joins(node) for node in nodes[exp.Pivot])
        and _are_joins_clear([node for node in nodes[exp.Join] if isinstance(node, exp.Join)])
        and all(_is_select_clear(node) for node in nodes[exp.Select] if isinstance(node, exp.Select))
    )


def _is_table_clear(table: exp.Expr) -> bool:
    # A table alias with column names replaces the table's own column names.
    return not (isinstance(table, exp.Table) and table.alias_column_names) and not _is_keyword(table.this)


def _is_called_by_a_clause(clause: exp.Expr) -> bool:
    """Whether the word of the clause may be an alias to Spark: in `FROM t LIMIT (a)`, it names `t`."""
    return _are_names(clause.args.get("this") or clause.args.get("expression"))


def _are_names(expression: exp.Expr | None) -> bool:
    """Whether the expression is names in parentheses, as they may follow an alias."""
    if not isinstance(expression, exp.Paren | exp.Tuple):
        return False
    names = expression.expressions or [expression.this]
    return all(isinstance(name, exp.Column) and not name.table for name in names)


def _is_without_size(sample: exp.Expr) -> bool:
    """Whether TABLESAMPLE is an alias: nothing says how large the sample is."""
    return not any(sample.args.values())


def _is_join_clear(join: exp.Join) -> bool:
    """Returns False if a word before JOIN is an alias to Spark."""
    is_outer_alone = join.kind == "OUTER" and not join.side
    return join.kind != "STRAIGHT_JOIN" and not is_outer_alone


def _are_joins_clear(joins: Sequence[exp.Join]) -> bool:
    if not all(map(_is_join_clear, joins)):
        return False
    sharing = {id(join.find_ancestor(exp.Select)) for join in joins if _shares_columns(join)}
    if sharing and any(
        id(join.find_ancestor(exp.Select)) in sharing and not _is_plain(join) for join in joins
    ):
        return False
    return not any(map(_hides_a_name, joins))


def _is_misleading(name: exp.Expr) -> bool:
    is_of_joins = not name.args.get("quoted") and name.name.lower() in _OF_JOINS
    return is_of_joins or _MADE_UP.fullmatch(name.name) is not None or name.name.startswith(UNNAMED)


def _is_keyword(name: object) -> bool:
    """Whether a name may be a keyword: `TABLE t` is all of t to Spark, but a table with the alias t here."""
    return isinstance(name, exp.Identifier) and not name.quoted and name.name.lower() in _NO_NAMES


def shares_columns(select: exp.Expr) -> bool:
    """Whether relations of the SELECT share columns, by USING or NATURAL."""
    return any(map(_shares_columns, select.args.get("joins") or ()))


def _shares_columns(join: exp.Join) -> bool:
    return bool(join.args.get("using")) or join.method == "NATURAL"


def _is_plain(join: exp.Join) -> bool:
    """Whether USING in the same SELECT means the first relation before it that has the column, and no other.

    It does not after a comma, which binds less tightly than JOIN, and looks like CROSS JOIN here. It does not
    after RIGHT and FULL, which have other shared columns, or after SEMI and ANTI, which hide one side.
    """
    is_plain = join.side in ("", "LEFT") and join.kind in ("", "INNER", "OUTER")
    is_of_tables = isinstance(join.this, exp.Table | exp.Subquery) and isinstance(join.parent, exp.Select)
    return is_plain and is_of_tables


def _hides_its_rows(sample: exp.Expr, common: Collection[str]) -> bool:
    """Whether a sample is on something that the rules look through.

    That is parentheses around a table, or a common table expression.
    """
    of = sample.parent
    if isinstance(of, exp.Subquery):
        return _is_of_joins(sample)
    return not isinstance(of, exp.Table) or (not of.db and of.name.lower() in common)


def _is_of_joins(node: exp.Expr) -> bool:
    """Whether the node follows parentheses around a table, or around joins."""
    of = node.parent
    while isinstance(of, exp.Subquery):
        of = of.this
        if of.args.get("joins"):
            return True
        if isinstance(of, exp.Table):
            return True
    return False


def _hides_a_name(join: exp.Join) -> bool:
    """Whether the join's right side, which SEMI and ANTI hide, has the name of a relation further out."""
    select = join.find_ancestor(exp.Select) if join.kind in ("SEMI", "ANTI") else None
    if select is None:
        return False
    name, outer = join.alias_or_name.lower(), select.find_ancestor(exp.Select)
    while outer is not None:
        if name in relation_names(outer):
            return True
        outer = outer.find_ancestor(exp.Select)
    return False


def is_named_by_place(select: exp.Select) -> bool:
    """Whether the SELECT's columns are named by position, with a star among several columns or relations."""
    relations = 1 + len(list(joins_of(select))) + len(select.args.get("laterals") or ())
    return select.is_star and (relations > 1 or len(select.selects) > 1) and _is_named_around(select)


def _is_determined_by_names(select: exp.Select) -> bool:
    """Whether nothing reads the SELECT's columns by position."""
    around = select.parent
    is_relation = isinstance(around, exp.CTE) or (
        isinstance(around, exp.Subquery) and isinstance(around.parent, exp.From | exp.Join)
    )
    return around is None or (is_relation and not around.alias_column_names)


def _is_named_around(select: exp.Select) -> bool:
    around = select.parent
    while isinstance(around, exp.SetOperation) or (isinstance(around, exp.Subquery) and not around.alias):
        around = around.parent
    return isinstance(around, exp.DerivedTable) and bool(around.alias_column_names)


def _has_hidden_places(select: exp.Select) -> bool:
    """Whether the SELECT's columns are named by position, and one of them is a star of a struct."""
    names = relation_names(select)
    stars = [
        projection
        for projection in select.selects
        if isinstance(projection, exp.Column) and projection.is_star
    ]
    return any(star.table.lower() not in names or star.db for star in stars) and _is_named_around(select)


def _is_select_clear(select: exp.Select) -> bool:
    if len(list(joins_of(select))) > MAX_JOINS or not _has_unique_names(select):
        return False
    if _may_be_called_where(select):
        return False
    if shares_columns(select) and select.is_star and not _is_determined_by_names(select):
        # To Spark, shared columns come first; to the qualifier, they are where the first relation has them.
        return False
    if _has_hidden_places(select):
        return False
    # Columns after such a column have other positions than it seems. Parentheses around it change nothing.
    return select.parent is None or not any(
        isinstance(projection.unnest(), _SEVERAL) for projection in select.selects
    )


def _may_be_called_where(select: exp.Select) -> bool:
    """Whether WHERE may be an alias to Spark: in `FROM t WHERE (a)`, it names `t`, and `a` its column."""
    where = select.args.get("where")
    if where is None or select.args.get("laterals") or not _are_names(where.this):
        return False
    before = (select.args.get("joins") or [select.args.get("from_")])[-1]
    # The parser adds ON TRUE to a join without a condition.
    on = before.args.get("on") if isinstance(before, exp.Join) else None
    is_complete = (on is not None and on != exp.true()) or (before is not None and before.args.get("using"))
    return before is not None and not is_complete and not before.this.alias


def _has_unique_names(select: exp.Select) -> bool:
    """Whether each relation has its own name; the right side of a LEFT SEMI JOIN may share another's."""
    names = relation_names(select)
    return len(names) == len(set(names))


def relation_names(select: exp.Select) -> list[str]:
    """Returns the names, in lower case, that columns of the SELECT can be qualified with."""
    return [name for relation in relations_of(select) if (name := relation.alias_or_name.lower())]
