"""Generates odd but valid queries over the tables of `lakehouse`, each with a deterministic answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.equivalence.lakehouse import DIMENSION, DIMENSIONS, FACT, FACTS, LAYOUTS

T = TypeVar("T")

FACT_KINDS: Mapping[str, str] = dict(
    zip(
        FACT,
        ("int", "int", "int", "moment", "moment", "moment", "text", "int", "bool", "double"),
        strict=True,
    )
)
DIMENSION_KINDS: Mapping[str, str] = dict(
    zip(
        DIMENSION,
        (
            "int",
            "int",
            "int",
            "int",
            "moment",
            "moment",
            "moment",
            "text",
            "int",
            "bool",
            "double",
            "int",
            "int",
        ),
        strict=True,
    )
)
LITERALS: Mapping[str, Sequence[str]] = {
    "int": ("-1", "0", "1", "3", "5", "7", "10", "2000", "2147483648"),
    "moment": ("DATE '1969-12-30'", "DATE '1970-01-01'", "TIMESTAMP '1970-01-02 07:00:00'"),
    "text": ("'Ada'", "'Bo'", "'O''Neil'", "'é'", "''", "'Adam'"),
    "bool": ("TRUE", "FALSE"),
    "double": ("0.0", "0.5", "1.5"),
    "year": ("1998", "1999", "2000", "2001"),
    "parent": ("0", "1", "2", "3"),
}
KEYS = (
    "k",
    "big_k",
    "b",
    "day",
    "at",
    "at_utc",
    "name",
    "price",
    "wide_price",
    "text_k",
    "is_paid",
    "weight",
)
JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")


@dataclass(frozen=True, slots=True)
class Relation:
    """Something in a FROM: its text with the alias, and its columns with their kinds.

    Names in `unasked` are other columns that it has, which make an unqualified column ambiguous as well.
    """

    text: str
    alias: str
    columns: Mapping[str, str]
    preferred: str | None = None
    unasked: tuple[str, ...] = ()


@st.composite
def queries(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """Draws one query."""
    return _Writer(draw).query()


class _Writer:
    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._names = 0
        self._aliases = 0
        self._common: list[Relation] = []
        self._written: list[str] = []

    def query(self) -> str:
        for _ in range(self._pick((0, 0, 1, 1, 2))):
            self._share(*self._derived(1))
        body = self._body()
        return f"WITH {', '.join(self._written)} {body}" if self._written else body

    def _share(
        self,
        text: str,
        columns: Mapping[str, str],
        preferred: str | None = None,
        unasked: tuple[str, ...] = (),
    ) -> Relation:
        """Adds a common table expression, which may be used again."""
        name = self._name("c")
        self._written.append(f"{name} AS ({text})")
        self._common.append(Relation(name, name, columns, preferred, unasked))
        return self._common[-1]

    def _body(self) -> str:
        match self._pick(("plain",) * 5 + ("set", "readings", "keys only")):
            case "keys only":
                return self._of_keys_only()
            case "plain":
                return self._select(2)[0]
            case "set":
                return self._set_operation(1)[0]
            case _:
                return self._readings()

    def _readings(self) -> str:
        """Writes a common table expression that several places read, most of them for their own keys."""
        fact = self._table(FACTS)
        text, columns, unasked = self._wrapping(fact)
        shared = self._share(text, columns, fact.preferred or "k", unasked)
        selects = [self._reading(shared) for _ in range(self._pick((2, 2, 3)))]
        if self._one_in(3):
            one, other = self._alias(), self._alias()
            joined = f"({selects[0]}) AS {one} JOIN ({selects[1]}) AS {other} ON {one}.c1 = {other}.c1"
            return f"SELECT {one}.c0, {other}.c0 AS c1 FROM {joined}"
        return self._pick((" UNION ALL ", " UNION ALL ", " UNION ", " EXCEPT ")).join(selects)

    def _of_keys_only(self) -> str:
        """Writes a fact joined to dimensions whose keys alone are used, so the joins can be eliminated."""
        fact = self._table(FACTS)
        key = fact.preferred or "k"
        source, _, conditions = self._star(fact)
        for _ in range(self._pick((0, 0, 1))):
            added = self._dimension()
            its = {"b": "big_k"}.get(key, key)
            join = self._pick((*JOINS[:1] * 3, "LEFT JOIN", "LEFT SEMI JOIN"))
            only = f"{added.alias}.year = {self._pick(LITERALS['year'])}"
            source = f"{source} {join} {added.text} ON {fact.alias}.{key} = {added.alias}.{its} AND {only}"
        if self._one_in(3):
            conditions = [*conditions, self._filter(fact)]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        columns = f"{fact.alias}.{key} AS c0, {fact.alias}.id AS c1"
        grouped = f"{fact.alias}.{key}"
        return self._pick(
            (
                f"SELECT {columns} FROM {source}{where}",
                f"SELECT DISTINCT {columns} FROM {source}{where}",
                f"SELECT count(*) AS n, max({fact.alias}.id) AS top FROM {source}{where}",
                f"SELECT {grouped} AS c0, count(*) AS n FROM {source}{where} GROUP BY {grouped}",
                f"SELECT {columns}, count(*) OVER (PARTITION BY {grouped}) AS n FROM {source}{where}",
            )
        )

    def _reading(self, shared: Relation) -> str:
        alias = self._alias()
        read = Relation(f"{shared.text} AS {alias}", alias, shared.columns, shared.preferred, shared.unasked)
        source, _, conditions = (read.text, [read], []) if self._one_in(8) else self._star(read)
        if self._one_in(3):
            conditions = [*conditions, self._filter(read)]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {alias}.{shared.preferred} AS c0, {alias}.id AS c1 FROM {source}{where}"

    def _select(self, depth: int, shape: str | None = None) -> tuple[str, Mapping[str, str]]:
        source, visible, conditions = self._from(depth)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        columns = [
            (self._column(relation, name, visible), kind, name)
            for relation in visible
            for name, kind in relation.columns.items()
        ]
        keys = [column for column in columns if column[2] in KEYS] or columns
        shape = shape or self._pick(("list", "list", "group", "distinct", "count", "window"))
        chosen = self._some(keys, 1, 3)
        named = {f"c{position}": kind for position, (_, kind, _) in enumerate(chosen)}
        texts = [text for text, _, _ in chosen]
        items = ", ".join(f"{text} AS c{position}" for position, text in enumerate(texts))
        match shape:
            case "group":
                measure = self._pick([text for text, _, _ in columns])
                having = self._pick(("", "", " HAVING count(*) > 1", f" HAVING {self._of_groups(columns)}"))
                sql = f"SELECT {items}, count(*) AS n, max({measure}) AS top FROM {source}{where}"
                return f"{sql} GROUP BY {', '.join(texts)}{having}", {**named, "n": "int"}
            case "distinct":
                return f"SELECT DISTINCT {items} FROM {source}{where}", named
            case "count":
                measure = self._pick([text for text, _, _ in columns])
                sql = (
                    f"SELECT count(*) AS n, count({measure}) AS m, min({texts[0]}) AS c0 FROM {source}{where}"
                )
                return sql, {"n": "int", "m": "int", "c0": chosen[0][1]}
            case "window":
                by = self._pick(texts)
                return (
                    f"SELECT {items}, count(*) OVER (PARTITION BY {by}) AS n FROM {source}{where}",
                    {**named, "n": "int"},
                )
            case "limit":
                order = ", ".join(str(position + 1) for position in range(len(texts)))
                limit = self._pick((1, 3, 10))
                return f"SELECT {items} FROM {source}{where} ORDER BY {order} LIMIT {limit}", named
            case _:
                # `hash(*)` reads all columns without naming any.
                all_columns = ", hash(*) AS h" if self._one_in(8) else ""
                return f"SELECT {items}{all_columns} FROM {source}{where}", named

    def _of_groups(self, columns: Sequence[tuple[str, str, str]]) -> str:
        """Writes a condition on an aggregate of a group."""
        text, kind, name = self._pick(columns)
        literal = self._pick(LITERALS.get(name, LITERALS[kind]))
        function = self._pick(("min", "max", "max", "sum" if kind == "int" else "min"))
        return f"{function}({text}) {self._pick(('=', '<=', '<>'))} {literal}"

    def _derived(self, depth: int) -> tuple[str, Mapping[str, str]]:
        """Writes a subquery that sees no outer relations, and may reuse their aliases."""
        before = self._aliases
        if self._one_in(3):
            self._aliases = 0
        if depth > 0 and self._one_in(4):
            found = self._set_operation(depth - 1)
        else:
            shape = self._pick(("list", "list", "list", "group", "distinct", "window", "limit"))
            found = self._select(depth - 1, shape)
        self._aliases = max(before, self._aliases)
        return found

    def _set_operation(self, depth: int) -> tuple[str, Mapping[str, str]]:
        operator = self._pick(("UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"))
        kind = self._pick(("int", "moment", "text"))
        left, right = self._one_column(kind, depth), self._one_column(kind, depth)
        return f"{left} {operator} {right}", {"c0": kind}

    def _one_column(self, kind: str, depth: int) -> str:
        source, visible, conditions = self._from(depth)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        fitting = [
            f"{relation.alias}.{name}"
            for relation in visible
            for name, its in relation.columns.items()
            if its == kind
        ]
        plain = [column for column in fitting if column.rsplit(".", 1)[1] not in ("text_k",)]
        return f"SELECT {self._pick(plain) if plain else 'NULL'} AS c0 FROM {source}{where}"

    def _from(self, depth: int) -> tuple[str, list[Relation], list[str]]:
        count = self._pick((1, 2, 2, 2, 3, 3, 4) if depth > 0 else (1, 2, 2, 3))
        if count > 1 and not self._one_in(3):
            text, visible, conditions = self._star()
            count -= 1
        else:
            first = self._relation(depth, is_fact=True)
            if count > 1 and self._one_in(2):
                return self._comma_joined(first, count, depth)
            text, visible, conditions = first.text, [first], []
        for _ in range(count - 1):
            added = self._relation(depth, is_fact=self._one_in(3))
            join = self._pick((*JOINS[:1] * 4, *JOINS))
            if self._one_in(4):
                text = f"({text})"
            joined, more = (added.text, []) if self._one_in(3) else self._in_parentheses(added, join)
            on = f"ON {self._on(visible, added)}" if more else self._joined_by(visible, added)
            text = f"{text} {join} {joined} {on}"
            if "SEMI" not in join and "ANTI" not in join:
                visible = [*visible, added, *more]
        return text, visible, [*conditions, *self._conditions(visible, depth)]

    def _in_parentheses(self, relation: Relation, join: str) -> tuple[str, list[Relation]]:
        """Returns the relation, sometimes joined to another one in parentheses."""
        if not self._one_in(3) or "SEMI" in join or "ANTI" in join:
            return relation.text, []
        other = self._dimension()
        inside = self._pick((*JOINS[:1] * 3, *JOINS[:4]))
        return f"({relation.text} {inside} {other.text} ON {self._on([relation], other)})", [other]

    def _star(self, given: Relation | None = None) -> tuple[str, list[Relation], list[str]]:
        """Joins a fact to a filtered dimension by the column that the fact is laid out by."""
        fact, dimension = given or self._table(FACTS), self._dimension()
        if given is None and self._one_in(3):
            fact = self._wrapped(fact)
        key = fact.preferred or "k"
        other = self._pick(
            {"k": ("k", "k", "big_k"), "b": ("big_k", "k"), "price": ("price",)}.get(key, (key,))
        )
        kind = fact.columns[key]
        mine, its = (
            self._converted(f"{fact.alias}.{key}", kind),
            self._converted(f"{dimension.alias}.{other}", kind),
        )
        equality = f"{mine} {self._pick(('=',) * 5 + ('<=>',))} {its}"
        if self._one_in(4):
            equality = " AND ".join([equality, *self._more_equalities(fact, dimension)])
        column = self._pick(("year", "year", "parent"))
        only = f"{dimension.alias}.{column} = {self._pick(LITERALS[column])}"
        joined = f"{fact.text} JOIN {dimension.text} ON {equality}"
        keys = f"SELECT {dimension.alias}.{other} FROM {dimension.text} WHERE {only}"
        also, too = self._pick(
            [
                (one, two)
                for one, two in (("k", "k"), ("b", "big_k"), ("day", "day"), ("name", "name"), (key, other))
                if one in fact.columns
            ]
        )
        pairs = (
            f"SELECT {dimension.alias}.{other}, {dimension.alias}.{too} FROM {dimension.text} WHERE {only}"
        )
        both, turned = [fact, dimension], [dimension, fact]
        return self._pick(
            (
                (joined, both, [only]),
                (f"{joined} AND {only}", both, []),
                (f"{fact.text} CROSS JOIN {dimension.text}", both, [equality, only]),
                (f"{dimension.text} JOIN {fact.text} ON {equality} AND {only}", turned, []),
                (f"{dimension.text} LEFT JOIN {fact.text} ON {equality}", turned, [only]),
                (f"{fact.text} RIGHT JOIN {dimension.text} ON {equality}", both, [only]),
                (f"{fact.text} LEFT JOIN {dimension.text} ON {equality} AND {only}", both, []),
                (f"{fact.text} LEFT SEMI JOIN {dimension.text} ON {equality} AND {only}", [fact], []),
                (fact.text, [fact], [f"{fact.alias}.{key} IN ({keys})"]),
                (fact.text, [fact], [f"({fact.alias}.{key}, {fact.alias}.{also}) IN ({pairs})"]),
                (fact.text, [fact], [f"EXISTS ({keys} AND {equality})"]),
            )
        )

    def _more_equalities(self, fact: Relation, dimension: Relation) -> list[str]:
        """Returns up to four equalities, so that keys have two to five columns."""
        pairs = (
            ("k", "k"),
            ("b", "big_k"),
            ("day", "day"),
            ("name", "name"),
            ("price", "price"),
            ("at", "at"),
        )
        fitting = [(one, two) for one, two in pairs if one in fact.columns]
        return [
            f"{fact.alias}.{one} {self._pick(('=',) * 7 + ('<=>',))} {dimension.alias}.{two}"
            for one, two in self._some(fitting, 1, 4)
        ]

    def _wrapped(self, fact: Relation) -> Relation:
        """Returns the same columns from a derived table or a common table expression."""
        alias, key = self._alias(), fact.preferred or "k"
        text, columns, unasked = self._wrapping(fact)
        if self._one_in(3):
            shared = self._share(text, columns, key, unasked)
            return Relation(f"{shared.text} AS {alias}", alias, columns, key, unasked)
        return Relation(f"({text}) AS {alias}", alias, columns, key, unasked)

    def _wrapping(self, fact: Relation) -> tuple[str, Mapping[str, str], tuple[str, str]]:
        """Returns a SELECT over the fact, its columns, and the names of other columns that it may have."""
        key, other = fact.preferred or "k", self._table(FACTS)
        only = f" WHERE {self._filter(fact)}" if self._one_in(2) else ""
        # This name is also a column of the fact, unless that column is the key itself.
        count = "n" if key == "b" else "b"
        text = self._pick(
            (
                f"SELECT * FROM {fact.text}{only}",
                f"SELECT DISTINCT * FROM {fact.text}{only}",
                f"SELECT * FROM {fact.text} UNION ALL SELECT * FROM {other.text}",
                f"SELECT * FROM {fact.text} EXCEPT SELECT * FROM {other.text}",
                f"SELECT * FROM {fact.text}{only} ORDER BY id LIMIT 20",
                f"(SELECT * FROM {fact.text}{only}) ORDER BY id LIMIT 20",
                f"SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY id) AS n FROM {fact.text}{only}",
                f"SELECT *, row_number() OVER (ORDER BY id) AS n FROM {fact.text}{only}",
                f"SELECT {key}, max(id) AS id, count(*) AS {count} FROM {fact.text}{only} GROUP BY {key}",
            )
        )
        columns = {name: fact.columns[name] for name in (key, "id")} if "GROUP BY" in text else fact.columns
        return text, columns, (count, "n")

    def _comma_joined(self, first: Relation, count: int, depth: int) -> tuple[str, list[Relation], list[str]]:
        visible, conditions = [first], []
        for _ in range(count - 1):
            added = self._relation(depth, is_fact=False)
            conditions.append(self._on(visible, added))
            visible.append(added)
        separator = self._pick((", ", " CROSS JOIN "))
        return (
            separator.join(relation.text for relation in visible),
            visible,
            [
                *conditions,
                *self._conditions(visible, depth),
            ],
        )

    def _relation(self, depth: int, is_fact: bool) -> Relation:
        alias = self._alias()
        if self._common and self._one_in(2):
            common = self._pick(self._common)
            return Relation(f"{common.text} AS {alias}", alias, common.columns, unasked=common.unasked)
        if depth > 0 and self._one_in(4):
            text, columns = self._derived(depth)
            return Relation(f"({text}) AS {alias}", alias, columns)
        if not is_fact and self._one_in(6):
            return self._few_rows()
        return self._table(FACTS) if is_fact else self._dimension()

    def _few_rows(self) -> Relation:
        """Returns a list of values, or a union of dimensions."""
        alias = self._alias()
        columns = {"k": "int", "year": "int", "parent": "int"}
        keys = [self._pick(("-1", "0", "3", "7", "NULL")) for _ in range(self._pick((1, 2, 3)))]
        rows = [f"({key}, {self._pick(LITERALS['year'])}, {self._pick(LITERALS['parent'])})" for key in keys]
        one, two = self._dimension(), self._dimension()
        branches = [
            f"SELECT {its.alias}.{self._pick(('k', 'big_k'))} AS k, {its.alias}.year, {its.alias}.parent"
            f" FROM {its.text}{self._pick(('', *[f' WHERE {self._filter(its)}'] * 2))}"
            for its in (one, two)
        ]
        union = self._pick(("UNION", "UNION ALL"))
        text = self._pick(
            (
                f"(VALUES {', '.join(rows)}) AS {alias} (k, year, parent)",
                f"({branches[0]} {union} {branches[1]}) AS {alias}",
                f"({branches[0]} {union} SELECT {keys[0]}, 1999, 2) AS {alias}",
                f"(SELECT {keys[0]} AS k, 1999 AS year, 1 AS parent"
                f" {union} SELECT {keys[-1]}, 2000, 2) AS {alias}",
            )
        )
        return Relation(text, alias, columns)

    def _dimension(self) -> Relation:
        alias = self._alias()
        if self._one_in(8):
            return self._flagged(alias)
        return Relation(f"{self._pick(DIMENSIONS)} {alias}", alias, DIMENSION_KINDS)

    def _flagged(self, alias: str) -> Relation:
        """Adds columns that are not NULL in any row, except where an outer join finds none."""
        table = Relation(self._pick(DIMENSIONS), "", DIMENSION_KINDS)
        items = ", ".join(
            (*DIMENSION_KINDS, f"{self._pick(('0', '1'))} AS flag", "coalesce(parent, 0) AS filled")
        )
        only = self._pick(("", f" WHERE year = {self._pick(LITERALS['year'])}"))
        kinds = {**DIMENSION_KINDS, "flag": "int", "filled": "int"}
        return Relation(f"(SELECT {items} FROM {table.text}{only}) {alias}", alias, kinds)

    def _table(self, tables: Sequence[str]) -> Relation:
        alias, table = self._alias(), self._pick(tables)
        layout = LAYOUTS.get(table)
        arranged = (
            "k" if layout is None else layout.sorted_by or next((name for name, _ in layout.partitions), None)
        )
        name = self._pick((table, table, f"shop.{table}", f"lake.shop.{table}", f"`{table}`"))
        return Relation(f"{name} AS {alias}", alias, FACT_KINDS, arranged)

    def _joined_by(self, visible: Sequence[Relation], added: Relation) -> str:
        shared = [
            name
            for name, kind in added.columns.items()
            if name in KEYS and visible[0].columns.get(name) == kind and len(visible) == 1
        ]
        if shared and self._one_in(6):
            return f"USING ({self._pick(shared)})"
        return f"ON {self._on(visible, added)}"

    def _on(self, visible: Sequence[Relation], added: Relation) -> str:
        conditions = [self._equality(visible, added)]
        if self._one_in(4):
            conditions.append(self._equality(visible, added))
        if self._one_in(3):
            conditions.append(self._filter(self._pick((*visible, added, added))))
        return " AND ".join(conditions)

    def _equality(self, visible: Sequence[Relation], added: Relation, converts: bool = True) -> str:
        pairs = [
            (f"{left.alias}.{mine}", f"{added.alias}.{its}", _is_natural(left, mine, added, its))
            for left in visible
            for mine, kind in left.columns.items()
            for its, other in added.columns.items()
            if kind == other and {mine, its} <= {*KEYS, "c0", "c1", "c2"}
        ]
        if not pairs:
            return "TRUE"
        natural = [pair for pair in pairs if pair[2]]
        left, right, _ = self._pick(natural if natural and not self._one_in(3) else pairs)
        if converts:
            kind = self._kind_of(left, (*visible, added))
            left, right = self._converted(left, kind), self._converted(right, kind)
        operator = self._pick(("=",) * 6 + ("<=>",) * 2 + (">=",))
        return f"{left} {operator} {right}" if self._one_in(2) else f"{right} {_turned(operator)} {left}"

    def _kind_of(self, column: str, among: Sequence[Relation]) -> str:
        alias, name = column.split(".")
        return next(relation.columns[name] for relation in among if relation.alias == alias)

    def _converted(self, column: str, kind: str) -> str:
        """Returns the column, sometimes with a conversion that a query may apply before it compares."""
        conversions = {
            "int": (
                "CAST({} AS BIGINT)",
                "CAST({} AS DECIMAL(20, 4))",
                "CAST(CAST({} AS BIGINT) AS INT)",
                "CAST(CAST(CAST({} AS BIGINT) AS STRING) AS BIGINT)",
                "CAST(CAST({} AS DECIMAL(30, 2)) AS BIGINT)",
            ),
            "moment": (
                "CAST({} AS DATE)",
                "to_date({})",
                "CAST(CAST({} AS DATE) AS STRING)",
                "CAST(CAST({} AS TIMESTAMP) AS DATE)",
                "CAST(CAST({} AS DATE) AS TIMESTAMP_NTZ)",
            ),
            "text": ("upper({})",),
        }.get(kind)
        if conversions is None or not self._one_in(6):
            return column
        return str(self._pick(conversions)).format(column)

    def _conditions(self, visible: Sequence[Relation], depth: int) -> list[str]:
        found = [self._filter(self._pick(visible), visible) for _ in range(self._pick((0, 1, 1, 2)))]
        if depth > 0 and self._one_in(3):
            found.append(self._subquery_condition(self._pick(visible)))
        if self._one_in(4):
            found.append(self._on_several(visible))
        return found

    def _on_several(self, visible: Sequence[Relation]) -> str:
        """Returns a condition on as many as three relations."""
        one, two, three, four = (self._filter(self._pick(visible), visible) for _ in range(4))
        return self._pick(
            (
                f"({one} OR {two})",
                f"(({one} AND {two}) OR ({one} AND {three}))",
                f"(({one} AND {two}) OR ({three} AND {four}))",
                f"CASE WHEN {one} THEN {two} ELSE {three} END",
            )
        )

    def _filter(self, relation: Relation, visible: Sequence[Relation] = ()) -> str:
        name, kind = self._pick(sorted(relation.columns.items()))
        if "year" in relation.columns and not self._one_in(3):
            name, kind = self._pick((("year", "int"), ("parent", "int")))
        column = self._column(relation, name, visible)
        literals = LITERALS.get(name, LITERALS[kind])
        one, two = self._pick(literals), self._pick(literals)
        return str(
            self._pick(
                (
                    f"{column} = {one}",
                    f"{column} = {one}",
                    f"{column} IN ({one}, {two})",
                    f"{column} <= {one}",
                    f"{column} <> {one}",
                    f"{column} BETWEEN {one} AND {two}",
                    f"({column} = {one} OR {column} IS NULL)",
                    f"{column} IS NULL",
                    f"{column} IS NOT NULL",
                    f"NOT ({column} > {one})",
                    f"coalesce({column}, {one}) = {two}",
                    f"CASE WHEN {column} = {one} THEN TRUE ELSE {column} = {two} END",
                )
            )
        )

    def _subquery_condition(self, outer: Relation) -> str:
        inner = self._relation(0, is_fact=self._one_in(3))
        equality = self._equality([outer], inner)
        only = f" AND {self._filter(inner, [inner])}" if not self._one_in(3) else ""
        match self._pick(
            ("exists", "exists", "not exists", "in", "in", "not in", "scalar", "or", "aggregate")
        ):
            case "exists":
                return f"EXISTS (SELECT 1 FROM {inner.text} WHERE {equality}{only})"
            case "not exists":
                return f"NOT EXISTS (SELECT 1 FROM {inner.text} WHERE {equality}{only})"
            case "in":
                return self._membership(outer, inner, "IN")
            case "not in":
                return self._membership(outer, inner, "NOT IN")
            case "or":
                return (
                    f"({self._filter(outer)} OR EXISTS (SELECT 1 FROM {inner.text} WHERE {equality}{only}))"
                )
            case "aggregate":
                name = self._pick(
                    [column for column, kind in outer.columns.items() if kind == "int"] or ["c0"]
                )
                if outer.columns.get(name) != "int":
                    return "TRUE"
                same = _as_equality(self._equality([outer], inner, converts=False))
                return f"{outer.alias}.{name} IN (SELECT count(*) FROM {inner.text} WHERE {same}{only})"
            case _:
                same = _as_equality(self._equality([outer], inner, converts=False))
                return f"(SELECT count(*) FROM {inner.text} WHERE {same}{only}) >= 1"

    def _membership(self, outer: Relation, inner: Relation, operator: str) -> str:
        pairs = [
            (f"{outer.alias}.{mine}", f"{inner.alias}.{its}")
            for mine, kind in outer.columns.items()
            for its, other in inner.columns.items()
            if kind == other and "text_k" not in (mine, its)
        ]
        if not pairs:
            return "TRUE"
        left, right = self._pick(pairs)
        if self._one_in(3):
            also, too = self._pick(pairs)
            left, right = f"({left}, {also})", f"{right}, {too}"
        return f"{left} {operator} (SELECT {right} FROM {inner.text} WHERE {self._filter(inner, [inner])})"

    def _column(self, relation: Relation, name: str, visible: Sequence[Relation]) -> str:
        """Names the column; unqualified only where no other relation has a column of that name."""
        if sum(name in other.columns or name in other.unasked for other in visible) == 1 and self._one_in(4):
            return name
        text = f"{relation.alias}.{name}"
        return text.upper() if self._one_in(8) else text

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def _alias(self) -> str:
        self._aliases += 1
        return f"r{self._aliases}"

    def _one_in(self, count: int) -> bool:
        return self._pick(range(count)) == count - 1

    def _pick(self, choices: Sequence[T]) -> T:
        picked: T = self._draw(st.sampled_from(choices))
        return picked

    def _some(self, choices: Sequence[T], at_least: int, at_most: int) -> list[T]:
        if not choices:
            return []
        some: list[T] = self._draw(
            st.lists(
                st.sampled_from(choices),
                min_size=min(at_least, len(choices)),
                max_size=min(at_most, len(choices)),
                unique=True,
            )
        )
        return some


def _is_natural(left: Relation, mine: str, added: Relation, its: str) -> bool:
    """Returns whether a real query may join by these columns, and the left one can be pruned."""
    same = mine == its or {mine, its} in ({"b", "big_k"}, {"k", "big_k"}, {"k", "text_k"}, {"day", "at"})
    wanted = {left.preferred, added.preferred} - {None}
    return same and (not wanted or mine in wanted or its in wanted)


def _turned(operator: str) -> str:
    return {">=": "<="}.get(operator, operator)


def _as_equality(condition: str) -> str:
    """Turns the condition into an equality, as Spark allows only those to correlate a scalar subquery."""
    return condition.replace(">=", "=").replace("<=>", "=").replace("<=", "=")
