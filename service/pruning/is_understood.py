"""Do the names and places of a query mean to the parser what they mean to Spark?"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

# Every relation of a SELECT is looked at with every other.
MAX_JOINS = 64
# Without one alias, what may be several columns to Spark; so may functions that the parser does not know.
_SEVERAL = (exp.Aliases, exp.UDTF, exp.Anonymous)
_NO_NAMES = ("table", "stream")


def is_understood(tree: exp.Query) -> bool:
    """False of a query that the qualifier would misread, as far as its text alone says so.

    What else there is to be known of its tables is asked when it is qualified (`is_resolved_alike`).

    >>> from sqlglot import parse_one
    >>> texts = ["SELECT 1 FROM a JOIN b USING (k)", "SELECT 1 FROM x, a JOIN b USING (k)"]
    >>> [is_understood(parse_one(each, read="spark")) for each in texts]
    [True, False]
    """
    # The columns of such a table have other names than the table's own.
    if any(each.alias_column_names for each in tree.find_all(exp.Table)):
        return False
    # `TABLE t` is all of t to Spark, and here another table that is called t.
    if any(each.name.lower() in _NO_NAMES and not each.this.quoted for each in _named_tables(tree)):
        return False
    # To Spark FETCH is an alias.
    if tree.find(exp.Fetch) is not None:
        return False
    # To Spark it is of all that is joined before it.
    if any(isinstance(each.parent, exp.Join) for each in tree.find_all(exp.Pivot)):
        return False
    joins = list(tree.find_all(exp.Join))
    sharing = {id(each.find_ancestor(exp.Select)) for each in joins if _shares_columns(each)}
    if any(id(each.find_ancestor(exp.Select)) in sharing and not _is_plain(each) for each in joins):
        return False
    if any(_has_hidden_places(each) for each in tree.find_all(exp.TableAlias)):
        return False
    return all(map(_is_select_understood, tree.find_all(exp.Select)))


def _named_tables(tree: exp.Query) -> Iterator[exp.Table]:
    return (each for each in tree.find_all(exp.Table) if isinstance(each.this, exp.Identifier))


def shares_columns(select: exp.Expr) -> bool:
    """Whether columns of its relations have one name, by USING or NATURAL."""
    return any(map(_shares_columns, select.args.get("joins") or ()))


def _shares_columns(join: exp.Join) -> bool:
    return bool(join.args.get("using")) or join.method == "NATURAL"


def _is_plain(join: exp.Join) -> bool:
    """Whether USING in the same SELECT means the first relation before it that has the column, and no other.

    Not after a comma, which binds less than JOIN, and looks like CROSS JOIN here; after RIGHT and FULL, whose
    columns are others; and after SEMI and ANTI, of which one side is not seen any more.
    """
    is_plain = join.side in ("", "LEFT") and join.kind in ("", "INNER", "OUTER")
    is_of_tables = isinstance(join.this, exp.Table | exp.Subquery) and isinstance(join.parent, exp.Select)
    return is_plain and is_of_tables


def _has_hidden_places(alias: exp.TableAlias) -> bool:
    """Whether columns are named by their places in a SELECT whose star may hide any number of them."""
    query = alias.parent.this if alias.args.get("columns") and isinstance(alias.parent, exp.Expr) else None
    return isinstance(query, exp.Query) and any(each.is_star for each in _branch_selects(query))


def _branch_selects(query: exp.Expr) -> Iterator[exp.Select]:
    branch = query.unnest()
    if isinstance(branch, exp.SetOperation):
        for each in (branch.left, branch.right):
            yield from _branch_selects(each)
    elif isinstance(branch, exp.Select):
        yield branch


def _is_select_understood(select: exp.Select) -> bool:
    if len(select.args.get("joins") or ()) > MAX_JOINS or not _has_unique_names(select):
        return False
    if shares_columns(select) and select.is_star:
        # To Spark the shared columns come first, to the qualifier where the first relation has them.
        return False
    # What follows such a column has another place than it seems.
    return select.parent is None or not any(isinstance(each, _SEVERAL) for each in select.selects)


def _has_unique_names(select: exp.Select) -> bool:
    """Whether each relation has a name of its own: the right side of a LEFT SEMI JOIN may share one."""
    first = select.args.get("from_")
    relations = [*([] if first is None else [first]), *(select.args.get("joins") or ())]
    names = [name for each in relations if (name := each.alias_or_name.lower())]
    return len(names) == len(set(names))
