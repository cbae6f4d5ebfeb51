"""Constructs of the SQL grammar, each as a function from `n` to a text that nests or repeats it `n` times."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def _before(number: int) -> str:
    return f"c{number - 1}" if number else "t"


CONSTRUCTS: Mapping[str, Callable[[int], str]] = {
    "calls": lambda n: "SELECT " + ".".join(["a()"] * n) + " FROM t",
    "call_suffix": lambda n: "SELECT a" + "()" * n + " FROM t",
    "nested_calls": lambda n: "SELECT " + "f(" * n + "a" + ")" * n + " FROM t",
    "nested_unknown2": lambda n: "SELECT " + "f(1," * n + "a" + ")" * n + " FROM t",
    "coalesce": lambda n: "SELECT " + "coalesce(1," * n + "a" + ")" * n + " FROM t",
    "dots": lambda n: "SELECT " + ".".join(["a"] * n) + " FROM t",
    "table_dots": lambda n: "SELECT 1 FROM " + ".".join(["a"] * n),
    "parens": lambda n: "SELECT " + "(" * n + "a" + ")" * n + " FROM t",
    "parens_where": lambda n: "SELECT 1 FROM t WHERE " + "(" * n + "a" + ")" * n,
    "tuple": lambda n: "SELECT " + "(1," * n + "a" + ")" * n + " FROM t",
    "array_type": lambda n: "SELECT CAST(a AS " + "ARRAY<" * n + "INT" + ">" * n + ") FROM t",
    "array_open": lambda n: "SELECT " + "ARRAY<" * n + " FROM t",
    "array_only": lambda n: "ARRAY<" * n,
    "array_open2": lambda n: "SELECT CAST(a AS " + "ARRAY<" * n + "INT) FROM t",
    "map_type": lambda n: "SELECT CAST(a AS " + "MAP<INT," * n + "INT" + ">" * n + ") FROM t",
    "struct_type": lambda n: "SELECT CAST(a AS " + "STRUCT<a:" * n + "INT" + ">" * n + ") FROM t",
    "struct_open": lambda n: "SELECT " + "STRUCT<a:" * n + " FROM t",
    "map_open": lambda n: "SELECT " + "MAP<" * n + " FROM t",
    "array_lt_space": lambda n: "SELECT " + "ARRAY < " * n + " 1 FROM t",
    "a_lt": lambda n: "SELECT " + "a < " * n + " 1 FROM t",
    "int_lt": lambda n: "SELECT " + "INT < " * n + " 1 FROM t",
    "decimal_paren": lambda n: "SELECT " + "DECIMAL(" * n + "1" + ")" * n + " FROM t",
    "varchar_paren": lambda n: "SELECT " + "VARCHAR(" * n + "1" + ")" * n + " FROM t",
    "struct_paren": lambda n: "SELECT " + "STRUCT(" * n + "1" + ")" * n + " FROM t",
    "array_paren": lambda n: "SELECT " + "ARRAY(" * n + "1" + ")" * n + " FROM t",
    "map_paren": lambda n: "SELECT " + "MAP(1," * n + "1" + ")" * n + " FROM t",
    "nullable_paren": lambda n: "SELECT " + "NULLABLE(" * n + "1" + ")" * n + " FROM t",
    "brackets": lambda n: "SELECT a" + "[1]" * n + " FROM t",
    "brackets_nested": lambda n: "SELECT " + "a[" * n + "1" + "]" * n + " FROM t",
    "brackets_open": lambda n: "SELECT " + "[" * n + "1" + "]" * n + " FROM t",
    "braces": lambda n: "SELECT " + "{a:" * n + "1" + "}" * n + " FROM t",
    "case": lambda n: "SELECT " + "CASE WHEN " * n + "a" + " THEN 1 END" * n + " FROM t",
    "case_then": lambda n: "SELECT " + "CASE WHEN a THEN " * n + "a" + " END" * n + " FROM t",
    "case_else": lambda n: "SELECT " + "CASE WHEN a THEN 1 ELSE " * n + "a" + " END" * n + " FROM t",
    "case_operand": lambda n: "SELECT " + "CASE " * n + "a" + " WHEN 1 THEN 1 END" * n + " FROM t",
    "case_whens": lambda n: "SELECT CASE " + "WHEN a THEN 1 " * n + " END FROM t",
    "case_open": lambda n: "SELECT " + "CASE " * n + " FROM t",
    "lambda": lambda n: "SELECT " + "f(x -> " * n + "a" + ")" * n + " FROM t",
    "lambda2": lambda n: "SELECT " + "f((x, y) -> " * n + "a" + ")" * n + " FROM t",
    "lambda_chain": lambda n: "SELECT f(" + "x -> " * n + "a" + ") FROM t",
    "cast_chain": lambda n: "SELECT a" + "::INT" * n + " FROM t",
    "cast_nested": lambda n: "SELECT " + "CAST(" * n + "a" + " AS INT)" * n + " FROM t",
    "try_cast": lambda n: "SELECT " + "TRY_CAST(" * n + "a" + " AS INT)" * n + " FROM t",
    "minus": lambda n: "SELECT " + "- " * n + "a FROM t",
    "tilde": lambda n: "SELECT " + "~" * n + "a FROM t",
    "bang": lambda n: "SELECT " + "! " * n + "a FROM t",
    "not": lambda n: "SELECT " + "NOT " * n + "a FROM t",
    "plus": lambda n: "SELECT " + "+ " * n + "a FROM t",
    "and": lambda n: "SELECT 1 FROM t WHERE " + " AND ".join(["a = 1"] * n),
    "or": lambda n: "SELECT 1 FROM t WHERE " + " OR ".join(["a = 1"] * n),
    "andor": lambda n: "SELECT 1 FROM t WHERE " + " OR a = 2 AND ".join(["a = 1"] * n),
    "and_paren_or": lambda n: "SELECT 1 FROM t WHERE " + " AND ".join(["(a = 1 OR b = 2)"] * n),
    "or_paren_and": lambda n: "SELECT 1 FROM t WHERE " + " OR ".join(["(a = 1 AND b = 2)"] * n),
    "nested_andor": lambda n: "SELECT 1 FROM t WHERE " + "(a = 1 OR b = 2 AND " * n + "a = 3" + ")" * n,
    "pipes": lambda n: "SELECT " + " || ".join(["'a'"] * n) + " FROM t",
    "add": lambda n: "SELECT " + " + ".join(["a"] * n) + " FROM t",
    "mul": lambda n: "SELECT " + " * ".join(["a"] * n) + " FROM t",
    "eq": lambda n: "SELECT " + " = ".join(["a"] * n) + " FROM t",
    "lt": lambda n: "SELECT " + " < ".join(["a"] * n) + " FROM t",
    "between": lambda n: "SELECT 1 FROM t WHERE " + "a BETWEEN " * n + "1" + " AND 2" * n,
    "between_chain": lambda n: "SELECT 1 FROM t WHERE a" + " BETWEEN 1 AND 2" * n,
    "in_list": lambda n: "SELECT 1 FROM t WHERE a IN (" + ",".join(map(str, range(n))) + ")",
    "in_chain": lambda n: "SELECT 1 FROM t WHERE a" + " IN (1)" * n,
    "in_sub": lambda n: "SELECT 1 FROM t WHERE " + "a IN (SELECT a FROM t WHERE " * n + "a=1" + ")" * n,
    "is_not_null": lambda n: "SELECT 1 FROM t WHERE a" + " IS NOT NULL" * n,
    "is_null": lambda n: "SELECT 1 FROM t WHERE a" + " IS NULL" * n,
    "like": lambda n: "SELECT 1 FROM t WHERE a" + " LIKE 'a'" * n,
    "like_any": lambda n: "SELECT 1 FROM t WHERE a LIKE ANY (" + ",".join(["'a'"] * n) + ")",
    "distinct_from": lambda n: "SELECT 1 FROM t WHERE a" + " IS DISTINCT FROM a" * n,
    "cte": lambda n: (
        "WITH "
        + ", ".join(f"c{i} AS (SELECT * FROM {_before(i)})" for i in range(n))
        + f" SELECT * FROM c{n - 1}"
    ),
    "cte_double": lambda n: (
        "WITH "
        + ", ".join(
            f"c{i} AS (SELECT a.a FROM {_before(i)} a JOIN {_before(i)} b ON a.a=b.a)" for i in range(n)
        )
        + f" SELECT * FROM c{n - 1}"
    ),
    "cte_union": lambda n: (
        "WITH "
        + ", ".join(
            f"c{i} AS (SELECT a FROM {_before(i)} UNION ALL SELECT a FROM {_before(i)})" for i in range(n)
        )
        + f" SELECT * FROM c{n - 1} JOIN d ON a=k WHERE d.x=1"
    ),
    "cte_col": lambda n: (
        "WITH "
        + ", ".join(f"c{i} AS (SELECT a+a AS a FROM {_before(i)})" for i in range(n))
        + f" SELECT * FROM c{n - 1} JOIN d ON a=k WHERE d.x=1"
    ),
    "cte_nested": lambda n: (
        "".join(f"WITH c{i} AS (" for i in range(n))
        + "SELECT 1 FROM t"
        + "".join(f") SELECT * FROM c{i}" for i in reversed(range(n)))
    ),
    "union": lambda n: " UNION ALL ".join(["SELECT a FROM t"] * n),
    "union_paren": lambda n: "(" * n + "SELECT a FROM t" + ") UNION ALL SELECT a FROM t" * n,
    "intersect": lambda n: " INTERSECT ".join(["SELECT a FROM t"] * n),
    "comma_join": lambda n: "SELECT 1 FROM " + ", ".join(f"t t{i}" for i in range(n)),
    "comma_join_eq": lambda n: (
        "SELECT 1 FROM "
        + ", ".join(f"t t{i}" for i in range(n))
        + " WHERE "
        + " AND ".join(f"t{i}.a=t{i + 1}.a" for i in range(n - 1))
    ),
    "star_join": lambda n: (
        "SELECT 1 FROM t " + " ".join(f"JOIN d d{i} ON t.a=d{i}.k AND d{i}.x=1" for i in range(n))
    ),
    "chain_join": lambda n: (
        "SELECT 1 FROM t t0 " + " ".join(f"JOIN t t{i} ON t{i - 1}.a=t{i}.a" for i in range(1, n))
    ),
    "cross_join": lambda n: "SELECT 1 FROM t t0 " + " ".join(f"JOIN t t{i}" for i in range(1, n)),
    "on_stacked": lambda n: "SELECT 1 FROM t " + "JOIN t " * n + "ON 1=1 " * n,
    "natural": lambda n: "SELECT 1 FROM t t0" + "".join(f" NATURAL JOIN t t{i}" for i in range(1, n + 1)),
    "using": lambda n: "SELECT 1 FROM t t0" + "".join(f" JOIN t t{i} USING (a)" for i in range(1, n + 1)),
    "using_star": lambda n: (
        "SELECT * FROM t t0" + "".join(f" JOIN t t{i} USING (a)" for i in range(1, n + 1))
    ),
    "join_paren": lambda n: "SELECT 1 FROM " + "(" * n + "t" + " JOIN t ON 1=1)" * n,
    "join_paren_r": lambda n: "SELECT 1 FROM " + "t JOIN (" * n + "t" + ") ON 1=1" * n,
    "from_paren": lambda n: "SELECT 1 FROM " + "(" * n + "t" + ")" * n,
    "subq": lambda n: "SELECT * FROM (" * n + "SELECT 1 FROM t" + ")" * n,
    "subq_alias": lambda n: "SELECT * FROM (" * n + "SELECT a FROM t" + ") x" * n,
    "subq_join": lambda n: "SELECT a FROM (" * n + "SELECT a FROM t" + ") x JOIN d ON x.a=d.k AND d.x=1" * n,
    "scalar_subq": lambda n: "SELECT (" * n + "SELECT 1 FROM t" + ")" * n,
    "exists": lambda n: "SELECT 1 FROM t WHERE " + "EXISTS (SELECT 1 FROM t WHERE " * n + "a=1" + ")" * n,
    "exists_flat": lambda n: (
        "SELECT 1 FROM t WHERE " + " AND ".join(["EXISTS (SELECT 1 FROM d WHERE d.k=t.a AND d.x=1)"] * n)
    ),
    "in_flat": lambda n: "SELECT 1 FROM t WHERE " + " AND ".join(["a IN (SELECT k FROM d WHERE d.x=1)"] * n),
    "from_from": lambda n: "FROM " * n + "t",
    "from_select": lambda n: "SELECT 1 FROM (FROM " * n + "t" + ")" * n,
    "lateral_view": lambda n: (
        "SELECT 1 FROM t" + "".join(f" LATERAL VIEW explode(x) v{i} AS c{i}" for i in range(n))
    ),
    "lateral_join": lambda n: "SELECT 1 FROM t" + "".join(f", LATERAL (SELECT 1) v{i}" for i in range(n)),
    "pivot": lambda n: "SELECT 1 FROM t" + " PIVOT (sum(a) FOR b IN (1,2))" * n,
    "unpivot": lambda n: "SELECT 1 FROM t" + " UNPIVOT (a FOR b IN (c,d))" * n,
    "pivot_in": lambda n: "SELECT 1 FROM t PIVOT (sum(a) FOR b IN (" + ",".join(map(str, range(n))) + "))",
    "window": lambda n: "SELECT " + ", ".join(["sum(a) OVER (PARTITION BY b ORDER BY c)"] * n) + " FROM t",
    "window_nested": lambda n: "SELECT " + "sum(" * n + "a" + ") OVER (ORDER BY b)" * n + " FROM t",
    "window_part_nested": lambda n: "SELECT " + "sum(a) OVER (PARTITION BY " * n + "a" + ")" * n + " FROM t",
    "window_named": lambda n: (
        "SELECT 1 FROM t WINDOW " + ", ".join(f"w{i} AS (PARTITION BY a)" for i in range(n))
    ),
    "filter": lambda n: "SELECT " + "sum(a) FILTER (WHERE " * n + "a" + ")" * n + " FROM t",
    "hints": lambda n: "SELECT /*+ " + ", ".join(["BROADCAST(t)"] * n) + " */ 1 FROM t",
    "hints_nested": lambda n: "SELECT /*+ " + "A(" * n + "t" + ")" * n + " */ 1 FROM t",
    "hints_many": lambda n: "SELECT " + "/*+ A */ " * n + " 1 FROM t",
    "string_concat": lambda n: "SELECT " + "'a' " * n + " FROM t",
    "string_long": lambda n: "SELECT '" + "a" * n + "' FROM t",
    "string_escape": lambda n: "SELECT '" + "\\\\a" * n + "' FROM t",
    "string_quotes": lambda n: "SELECT '" + "''" * n + "' FROM t",
    "raw_string": lambda n: "SELECT r'" + "a" * n + "' FROM t",
    "string_open": lambda n: "SELECT '" + "a" * n,
    "strings_open": lambda n: "SELECT " + "'a' \"" * n,
    "backtick_long": lambda n: "SELECT `" + "a" * n + "` FROM t",
    "backticks": lambda n: "SELECT `" + "``" * n + "` FROM t",
    "backtick_many": lambda n: "SELECT " + ",".join(["`a`"] * n) + " FROM t",
    "number_long": lambda n: "SELECT " + "1" * n + " FROM t",
    "number_dots": lambda n: "SELECT " + "1." * n + " FROM t",
    "number_e": lambda n: "SELECT " + "1e" * n + " FROM t",
    "hex": lambda n: "SELECT 0x" + "1" * n + " FROM t",
    "hexstr": lambda n: "SELECT x'" + "1f" * n + "' FROM t",
    "comments": lambda n: "SELECT " + "/* a */ " * n + "1 FROM t",
    "comments_nested": lambda n: "SELECT " + "/* " * n + "*/ " * n + "1 FROM t",
    "comments_open": lambda n: "SELECT 1 FROM t " + "/* " * n,
    "comments_line": lambda n: "SELECT 1" + "-- a\n" * n + " FROM t",
    "comments_cols": lambda n: "SELECT 1" + ", 1 /* a */" * n + " FROM t",
    "comment_and": lambda n: "SELECT 1 FROM t WHERE a=1" + " /* a */ AND /* b */ a=1" * n,
    "json_path": lambda n: "SELECT a" + ":b" * n + " FROM t",
    "json_path_br": lambda n: "SELECT a:b" + "[0]" * n + " FROM t",
    "json_path_dots": lambda n: "SELECT a:b" + ".c" * n + " FROM t",
    "json_path_q": lambda n: "SELECT a:b" + "['c']" * n + " FROM t",
    "values": lambda n: "SELECT * FROM VALUES " + ",".join(["(1,2)"] * n),
    "values_nested": lambda n: "SELECT * FROM (VALUES (" * n + "1" + "))" * n,
    "grouping_sets": lambda n: "SELECT 1 FROM t GROUP BY a GROUPING SETS (" + ",".join(["(a)"] * n) + ")",
    "grouping_sets_nested": lambda n: "SELECT 1 FROM t GROUP BY " + "GROUPING SETS (" * n + "a" + ")" * n,
    "grouping_sets_chain": lambda n: "SELECT 1 FROM t GROUP BY a" + " GROUPING SETS (a)" * n,
    "rollup_nested": lambda n: "SELECT 1 FROM t GROUP BY " + "ROLLUP(" * n + "a" + ")" * n,
    "cube_nested": lambda n: "SELECT 1 FROM t GROUP BY " + "CUBE(" * n + "a" + ")" * n,
    "with_rollup": lambda n: "SELECT 1 FROM t GROUP BY a" + " WITH ROLLUP" * n,
    "interval": lambda n: "SELECT " + "INTERVAL " * n + "'1' DAY FROM t",
    "interval_units": lambda n: "SELECT INTERVAL " + "1 DAY " * n + " FROM t",
    "interval_add": lambda n: "SELECT " + "+ ".join(["INTERVAL '1' DAY "] * n) + " FROM t",
    "interval_paren": lambda n: "SELECT " + "INTERVAL (" * n + "1" + ") DAY" * n + " FROM t",
    "date_chain": lambda n: "SELECT " + "DATE " * n + "'2020-01-01' FROM t",
    "timestamp_chain": lambda n: "SELECT " + "TIMESTAMP " * n + "'2020-01-01' FROM t",
    "at_time_zone": lambda n: "SELECT a" + " AT TIME ZONE 'UTC'" * n + " FROM t",
    "collate": lambda n: "SELECT a" + " COLLATE x" * n + " FROM t",
    "escape": lambda n: "SELECT a LIKE 'b'" + " ESCAPE 'x'" * n + " FROM t",
    "order_by": lambda n: "SELECT 1 FROM t ORDER BY " + ",".join(["a"] * n),
    "group_by": lambda n: "SELECT 1 FROM t GROUP BY " + ",".join(["a"] * n),
    "group_by_pos": lambda n: "SELECT a, b FROM t GROUP BY " + ",".join(["1"] * n),
    "select_list": lambda n: "SELECT " + ",".join(f"a AS a{i}" for i in range(n)) + " FROM t",
    "select_lateral_alias": lambda n: (
        "SELECT a AS a0" + "".join(f", a{i}+a{i} AS a{i + 1}" for i in range(n)) + " FROM t"
    ),
    "star_list": lambda n: "SELECT " + ",".join(["*"] * n) + " FROM t",
    "tstar_list": lambda n: "SELECT " + ",".join(["t.*"] * n) + " FROM t",
    "except_list": lambda n: "SELECT * EXCEPT (" + ",".join(f"a{i}" for i in range(n)) + ") FROM t",
    "alias_chain": lambda n: "SELECT " + "a AS a " * n + " FROM t",
    "if": lambda n: "SELECT " + "if(a," * n + "1" + ",2)" * n + " FROM t",
    "extract": lambda n: "SELECT " + "extract(day from " * n + "a" + ")" * n + " FROM t",
    "substring": lambda n: "SELECT " + "substring(" * n + "a" + " from 1 for 2)" * n + " FROM t",
    "trim": lambda n: "SELECT " + "trim(both 'a' from " * n + "a" + ")" * n + " FROM t",
    "position": lambda n: "SELECT " + "position('a' in " * n + "a" + ")" * n + " FROM t",
    "semis": lambda n: "SELECT 1" + ";" * n,
    "selects": lambda n: "SELECT 1;" * n,
    "select_select": lambda n: "SELECT " * n + "1",
    "tablesample": lambda n: "SELECT 1 FROM t" + " TABLESAMPLE (10 PERCENT)" * n,
    "version": lambda n: "SELECT 1 FROM t" + " VERSION AS OF 1" * n,
    "system_version": lambda n: "SELECT 1 FROM " + ",".join(["t SYSTEM_VERSION AS OF 1"] * n),
    "tvf": lambda n: "SELECT 1 FROM " + "f(" * n + "1" + ")" * n,
    "limit": lambda n: "SELECT 1 FROM t" + " LIMIT 1" * n,
    "placeholders": lambda n: "SELECT " + ",".join(["?"] * n) + " FROM t",
    "params": lambda n: "SELECT " + ",".join([":a"] * n) + " FROM t",
    "div": lambda n: "SELECT " + " DIV ".join(["a"] * n) + " FROM t",
    "qdcolon": lambda n: "SELECT " + "?::" * n + "INT FROM t",
    "distinct": lambda n: "SELECT " + "DISTINCT " * n + "a FROM t",
    "all": lambda n: "SELECT " + "ALL " * n + "a FROM t",
    "select_as_struct": lambda n: (
        "SELECT named_struct(" + ",".join(f"'a{i}', 1" for i in range(n)) + ") FROM t"
    ),
    "backslash": lambda n: "SELECT 1 FROM t WHERE a = '" + "\\'" * n + "'",
    "jinja": lambda n: "SELECT " + "{{ a }} " * n + " FROM t",
    "dollar": lambda n: "SELECT " + "$" * n + " FROM t",
    "at": lambda n: "SELECT " + "@" * n + " FROM t",
    "unicode": lambda n: "SELECT " + "é" * n + " FROM t",
    "blank": lambda n: "SELECT " + " " * n + "1 FROM t",
    "newlines": lambda n: "SELECT " + "\n" * n + "1 FROM t",
    "cluster_by": lambda n: "SELECT 1 FROM t" + " SORT BY a" * n,
    "arrow_kwargs": lambda n: "SELECT " + "f(a => " * n + "1" + ")" * n + " FROM t",
    "within_group": lambda n: (
        "SELECT " + "percentile(a) WITHIN GROUP (ORDER BY " * n + "a" + ")" * n + " FROM t"
    ),
    "transform": lambda n: "SELECT " + "TRANSFORM(" * n + "a" + ")" * n + " FROM t",
    "next_value": lambda n: "SELECT " + "NEXT VALUE FOR " * n + "a FROM t",
    "prior": lambda n: "SELECT " + "PRIOR " * n + "a FROM t",
    "connect": lambda n: "SELECT 1 FROM t " + "START WITH a=1 CONNECT BY a=b " * n,
    "qualify_clause": lambda n: "SELECT 1 FROM t" + " QUALIFY a" * n,
    "unnest": lambda n: "SELECT 1 FROM " + "UNNEST(" * n + "1" + ")" * n,
    "explode": lambda n: "SELECT " + "explode(" * n + "a" + ")" * n + " FROM t",
    "kw_from": lambda n: "SELECT 1 " + "FROM t " * n,
    "kw_with": lambda n: "WITH " * n + "1",
    "kw_join": lambda n: "SELECT 1 FROM t " + "JOIN " * n,
    "kw_left": lambda n: "SELECT " + "LEFT(" * n + "1" + ")" * n,
    "overlaps": lambda n: "SELECT a" + " OVERLAPS a" * n,
    "rlike": lambda n: "SELECT a" + " RLIKE 'a'" * n,
    "typed_lit": lambda n: "SELECT " + "INT " * n + "'1' FROM t",
    "decimal_params": lambda n: "SELECT CAST(a AS DECIMAL(" + "1," * n + "1)) FROM t",
    "row_fn": lambda n: "SELECT " + "ROW(" * n + "1" + ")" * n + " FROM t",
}
