"""Build sides that are more than filtered tables: the same rows, and fewer files."""

from __future__ import annotations

import pytest

from service.model.filters.filter_record import Reason
from service.model.query.query import Parameter
from tests.equivalence.harness import Harness

FACT = "SELECT f.id FROM by_k f"
YEARS = (
    "WITH c AS (SELECT d.year AS y, f.b, count(*) AS n FROM by_k f JOIN dim d ON f.k = d.k"
    " GROUP BY d.year, f.b)"
)

PRUNED = {
    "a derived table": f"{FACT} JOIN (SELECT k FROM dim WHERE year = 1999) d ON f.k = d.k",
    "one with a condition on it from outside": (
        f"{FACT} JOIN (SELECT k AS key, year AS y FROM dim WHERE parent < 4) d ON f.k = d.key"
        " WHERE d.y = 1999"
    ),
    "one in one": (
        f"{FACT} JOIN (SELECT x.k FROM (SELECT k, year FROM dim WHERE parent > 0) x WHERE x.year = 1999) d"
        " ON f.k = d.k"
    ),
    "columns named in the alias": (
        f"{FACT} JOIN (SELECT big_k, k, year FROM dim) AS d (other, key, y) ON f.k = d.key WHERE d.y = 1999"
    ),
    "a computed column in a condition": (
        f"{FACT} JOIN (SELECT k, year - 1900 AS y FROM dim) d ON f.k = d.k WHERE d.y * 2 = 198"
    ),
    "a join in a derived table": (
        f"{FACT} JOIN (SELECT x.k FROM dim x JOIN tiny y ON x.parent = y.k WHERE y.year = 2000) d"
        " ON f.k = d.k"
    ),
    "a common table expression": (
        f"WITH d AS (SELECT k FROM dim WHERE year = 1999) {FACT} JOIN d ON f.k = d.k"
    ),
    "one that is used twice": (
        f"WITH d AS (SELECT k, big_k FROM dim WHERE year = 1999) {FACT} JOIN d ON f.k = d.k"
        " WHERE f.b IN (SELECT big_k FROM d) OR f.b < 3"
    ),
    "one of another": (
        "WITH c AS (SELECT * FROM dim WHERE parent < 4), d AS (SELECT k FROM c WHERE year = 1999)"
        f" {FACT} JOIN d ON f.k = d.k"
    ),
    "GROUP BY the key": (
        f"{FACT} JOIN (SELECT k, count(*) AS n FROM dim WHERE year = 1999 GROUP BY k HAVING count(*) > 0) d"
        " ON f.k = d.k AND d.n > 0"
    ),
    "groups that only HAVING chooses": (
        f"{FACT} JOIN (SELECT k, count(*) AS n FROM dim GROUP BY k HAVING max(year) = 1999) d ON f.k = d.k"
    ),
    "such groups in a subquery, by a sum": (
        f"{FACT} WHERE f.k IN (SELECT k FROM dim AS d GROUP BY k HAVING sum(d.year) BETWEEN 1 AND 1999)"
    ),
    "such groups beside NULL": (
        f"{FACT} JOIN (SELECT k FROM dim GROUP BY k HAVING max(year) = 1999) d ON f.k <=> d.k"
    ),
    "what all branches of an OR say": (
        f"{FACT}, dim d WHERE (f.k = d.k AND d.year = 1999 AND d.parent < 9)"
        " OR (d.k = f.k AND d.year = 1999 AND f.b < 3)"
    ),
    "what each branch of an OR says of one table": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE (d.year = 1999 AND f.b < 30) OR (d.big_k = 3 AND f.b IS NULL)"
    ),
    "DISTINCT": f"{FACT} JOIN (SELECT DISTINCT k FROM dim WHERE year = 1999) d ON f.k = d.k",
    "LIMIT over all": (
        f"{FACT} JOIN (SELECT k FROM dim WHERE year = 1999 ORDER BY k LIMIT 100) d ON f.k = d.k"
    ),
    "a window beside the key": (
        f"{FACT} JOIN (SELECT k, row_number() OVER (ORDER BY k, big_k) AS n FROM dim WHERE year = 1999) d"
        " ON f.k = d.k AND d.n < 100"
    ),
    "a snowflake of derived tables": (
        f"{FACT} JOIN (SELECT k, parent FROM dim) d ON f.k = d.k"
        " JOIN (SELECT k AS p FROM tiny WHERE year = 2000) t ON d.parent = t.p"
    ),
    "IN a subquery of a derived table": (
        f"{FACT} WHERE f.k IN (SELECT x.k FROM (SELECT k FROM dim WHERE year = 1999) x)"
    ),
    "one value of a subquery": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year = (SELECT max(year) - 2 FROM dim)"
    ),
    "DISTINCT value of a subquery": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year = (SELECT DISTINCT (year) FROM dim WHERE year = 1999)"
    ),
    "between the values of two": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.k BETWEEN (SELECT min(k) + 2 FROM tiny)"
        " AND (SELECT max(k) + 3 FROM tiny)"
    ),
    "IN a subquery, on the build side": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.parent IN (SELECT k FROM tiny WHERE year = 2000)"
    ),
    "IN a subquery that joins and groups": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.parent IN (SELECT t.k FROM tiny t JOIN parents p"
        " ON t.parent = p.parent GROUP BY t.k HAVING count(*) > 0)"
    ),
    "a subquery in a subquery": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year IN (SELECT year FROM dim WHERE parent ="
        " (SELECT min(parent) FROM tiny WHERE k = 0))"
    ),
    "NOT IN a subquery with NULL": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.parent NOT IN (SELECT k FROM tiny)"
    ),
    "a subquery without rows": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year = (SELECT year FROM dim WHERE year = 1900)"
    ),
    "parts of dates": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE year(d.day) = 1970 AND month(d.day) = 1 AND day(d.day) < 3"
    ),
    "days later": f"{FACT} JOIN dim d ON f.k = d.k WHERE date_sub(d.day, 2) > DATE '1969-12-29'",
    "floating point against a literal": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.weight > 1.5 AND d.weight / 2 < 2.25"
    ),
    "a condition from around the SELECT": (
        "SELECT x.id, x.year FROM (SELECT f.id, d.year FROM by_k f JOIN dim d ON f.k = d.k) x"
        " WHERE x.year = 1999"
    ),
    "one on a key of GROUP BY": (
        "SELECT x.n FROM (SELECT d.year AS y, count(*) AS n FROM by_k f JOIN dim d ON f.k = d.k"
        " GROUP BY d.year) x WHERE x.y = 1999 AND x.n > 0"
    ),
    "one on a key of PARTITION BY": (
        "SELECT x.n FROM (SELECT d.year, row_number() OVER (PARTITION BY d.year, d.k ORDER BY f.id) AS n"
        " FROM by_k f JOIN dim d ON f.k = d.k) x WHERE x.year = 1999 AND x.n < 3"
    ),
    "one through two steps and a union": (
        "WITH c AS (SELECT d.year AS y, f.id FROM by_k f JOIN dim d ON f.k = d.k"
        " UNION ALL SELECT year, k FROM tiny), e AS (SELECT y AS z, id FROM c WHERE id IS NOT NULL)"
        " SELECT * FROM e WHERE z = 1999"
    ),
    "two places that read a common table expression": (
        "WITH c AS (SELECT d.year, f.k, sum(f.b) AS b FROM by_k f JOIN dim d ON f.k = d.k"
        " GROUP BY d.year, f.k)"
        " SELECT x.k, x.b, y.b FROM c x JOIN c y ON x.k <= y.k WHERE x.year = 1999 AND y.year = 2000"
    ),
    "one of them in a subquery": (
        "WITH c AS (SELECT d.year, f.k FROM by_k f JOIN dim d ON f.k = d.k GROUP BY d.year, f.k)"
        " SELECT x.k, (SELECT count(*) FROM c WHERE c.year = 2000) AS n FROM c x WHERE x.year = 1999"
    ),
    "a condition on the side that an outer join keeps": (
        "WITH c AS (SELECT d.year, f.k FROM by_k f JOIN dim d ON f.k = d.k GROUP BY d.year, f.k)"
        " SELECT x.k, t.year FROM c x LEFT JOIN tiny t ON x.k = t.k WHERE x.year = 1999"
    ),
    "a day before today": (f"{FACT} JOIN dim d ON f.k = d.k WHERE d.day > current_date() - INTERVAL 9 DAYS"),
    "a moment from now": f"{FACT} JOIN dim d ON f.k = d.k WHERE d.at_utc > now() + INTERVAL 1 MONTH",
    "a year of the clock": f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year + 27 > year(current_timestamp())",
    "the clock's day": f"{FACT} JOIN dim d ON f.k = d.k WHERE d.day > date_sub(to_date(now()), 9)",
    "a moment beside a year": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.at < localtimestamp() AND d.year = 1999"
    ),
    "what is made of the clock, beside a year": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.at_utc < date_trunc('DAY', now()) AND d.year = 1999"
    ),
    "a list of values": f"{FACT} JOIN (VALUES (1), (3), (NULL)) AS d (k) ON f.k = d.k",
    "a list of values and names": (
        f"{FACT} JOIN VALUES (1, 'a'), (-1, 'b'), (3, 'a') AS d (k, n) ON f.k = d.k WHERE d.n = 'a'"
    ),
    "a list of values two joins away": (
        f"{FACT} JOIN dim d ON f.k = d.k JOIN (VALUES (DATE '1969-12-28'), (DATE '1970-01-01')) AS v (day)"
        " ON d.day = v.day"
    ),
    "a common table expression of values": (
        f"WITH v (k) AS (VALUES (1), (3)) {FACT} WHERE f.k IN (SELECT k FROM v)"
    ),
    "SELECTs without a table": (
        f"{FACT} JOIN (SELECT 1 AS k UNION ALL SELECT 3 UNION ALL SELECT -1) d ON f.k = d.k"
    ),
    "one such": f"{FACT} JOIN (SELECT 1 AS k, 2 AS n) d ON f.k = d.k AND d.n > 1",
    "a union of filtered tables": (
        f"{FACT} JOIN (SELECT k FROM dim WHERE year = 1999 UNION SELECT k FROM tiny WHERE year = 2000) d"
        " ON f.k = d.k"
    ),
    "a union of different widths": (
        f"{FACT} JOIN (SELECT k FROM tiny WHERE year = 1999 UNION ALL SELECT big_k FROM dim"
        " WHERE parent = 1) d ON f.k = d.k"
    ),
    "a union that is told apart": (
        f"{FACT} JOIN (SELECT k, year AS y, 'a' AS c FROM dim UNION ALL SELECT k + 1, parent, 'b' FROM tiny"
        " UNION ALL SELECT k, 1999, 'a' FROM parents WHERE k = 3) d"
        " ON f.k = d.y - 1996 WHERE d.y = 1999 AND d.c = 'a'"
    ),
    "a union with joins and aggregates": (
        f"{FACT} JOIN (SELECT x.k, max(x.big_k) AS m FROM dim x JOIN parents p ON x.parent = p.k"
        " WHERE p.year = 2000 GROUP BY x.k HAVING count(*) > 0 UNION ALL VALUES (7, 1)) d ON f.k = d.k"
    ),
    "IN a union": (
        f"{FACT} WHERE f.k IN (SELECT k FROM tiny WHERE year = 1999 UNION ALL SELECT parent FROM dim"
        " WHERE year = 2000 ORDER BY 1 LIMIT 50)"
    ),
    "a union read twice": (
        "WITH u AS (SELECT k, big_k FROM dim WHERE year = 1999 UNION ALL SELECT 3, 1)"
        f" {FACT} JOIN u ON f.k = u.k WHERE f.b IN (SELECT big_k FROM u) OR f.b < 3"
    ),
    "a union of a union": (
        "WITH u AS (SELECT k FROM dim WHERE year = 1999 UNION ALL SELECT 3),"
        " v AS (SELECT k FROM u UNION SELECT k FROM tiny WHERE year = 2000)"
        f" {FACT} JOIN v ON f.k = v.k"
    ),
    "what a join asks of the keys of an aggregate": (
        f"{YEARS} SELECT c.* FROM c JOIN tiny t ON c.y = t.year WHERE t.parent = 1"
    ),
    "what joins ask in two places": (
        f"{YEARS} SELECT a.y, a.b, z.b AS other FROM (SELECT c.* FROM c JOIN tiny t ON c.y = t.year"
        " WHERE t.k = 0) a JOIN (SELECT c.* FROM c JOIN parents p ON c.y = p.year"
        " WHERE p.k = 1 AND c.n > 0) z ON a.y = z.y - 1"
    ),
    "what a join asks in one place, and a condition in another": (
        f"{YEARS} SELECT a.y, z.y AS other FROM c a JOIN c z ON a.b = z.b JOIN tiny t ON a.y = t.year"
        " WHERE t.k = 0 AND z.y = 1999"
    ),
    "what a semi join asks": (f"{YEARS} SELECT * FROM c LEFT SEMI JOIN tiny t ON c.y = t.year AND t.k = 0"),
    "what a join asks of the branches of a union": (
        "WITH c AS (SELECT d.year AS y, f.id FROM by_k f JOIN dim d ON f.k = d.k"
        " UNION ALL SELECT parent, k FROM tiny)"
        " SELECT c.* FROM c JOIN parents p ON c.y = p.year WHERE p.k = 1"
    ),
    "the first value there is": f"{FACT} JOIN dim d ON f.k = d.k WHERE coalesce(d.year, d.k) = 1999",
}

# Where the outer join finds no row, the flag is NULL, and not the value in the SELECT.
FLAGGED = "WITH x AS (SELECT k, 1 AS is_tiny FROM tiny WHERE year = 2000)"

SAME_ROWS = {
    "the first rows of what stands in parentheses": (
        "SELECT r.id FROM ((SELECT k, id FROM by_k) ORDER BY id LIMIT 5) r JOIN dim d ON r.k = d.k"
        " WHERE d.year = 1999"
    ),
    "the others in a common table expression": (
        "WITH r AS ((SELECT k, id FROM by_k) ORDER BY id OFFSET 5) SELECT r.id FROM r JOIN dim d ON r.k = d.k"
        " WHERE d.year = 1999"
    ),
    "the first rows in a branch of a union": (
        "SELECT r.id FROM (((SELECT k, id FROM by_k) ORDER BY id LIMIT 5) UNION ALL SELECT k, id FROM by_day"
        ") r JOIN dim d ON r.k = d.k WHERE d.year = 1999"
    ),
    "EXISTS of an aggregate that looks like an operator": (
        f"{FACT} WHERE EXISTS (SELECT any(d.parent > 3) FROM dim d WHERE d.k = f.k AND d.year = 1999)"
    ),
    "a common table expression that a table function reads too": (
        "WITH r AS (SELECT k, id FROM by_k) SELECT r.id, x FROM r JOIN dim d ON r.k = d.k"
        " LATERAL VIEW explode((SELECT sort_array(collect_list(id)) FROM r)) AS x WHERE d.year = 1999"
    ),
    "a flag on the side that an outer join fills, NULL": (
        f"{FLAGGED} SELECT f.id FROM dim d LEFT JOIN x ON d.k = x.k JOIN by_k f ON f.k = d.k"
        " WHERE d.year = 1999 OR x.is_tiny IS NULL"
    ),
    "such a flag in a function": (
        f"{FLAGGED} SELECT f.id FROM dim d LEFT JOIN x ON d.k = x.k JOIN by_k f ON f.k = d.k"
        " WHERE coalesce(x.is_tiny, d.year) = d.year"
    ),
    "such a flag in CASE": (
        f"{FLAGGED} {FACT} JOIN dim d ON f.k = d.k LEFT JOIN x ON d.k = x.k"
        " WHERE CASE WHEN x.is_tiny = 1 THEN d.year = 2000 ELSE d.year = 1998 END"
    ),
    "such a flag of the left side": (
        f"{FLAGGED} {FACT} JOIN (SELECT d.k, x.is_tiny, d.year FROM x RIGHT JOIN dim d ON d.k = x.k) y"
        " ON f.k = y.k WHERE y.year = 1999 OR y.is_tiny IS NULL"
    ),
    "such a flag in a subquery": (
        f"{FLAGGED} {FACT} WHERE f.k IN (SELECT d.k FROM dim d LEFT JOIN x ON d.k = x.k"
        " WHERE d.year = 1999 OR x.is_tiny IS NULL)"
    ),
    "such a flag in a union": (
        f"{FLAGGED} {FACT} JOIN (SELECT d.k, x.is_tiny FROM dim d LEFT JOIN x ON d.k = x.k"
        " UNION ALL SELECT k, 2 FROM tiny WHERE year = 1999) u ON f.k = u.k WHERE u.is_tiny IS NULL"
    ),
    "such a flag as a key": (
        f"{FLAGGED} {FACT} JOIN (SELECT x.is_tiny AS k FROM dim d LEFT JOIN x ON d.k = x.k"
        " WHERE d.year = 1999 UNION ALL SELECT k FROM tiny WHERE year = 1999) u ON f.k <=> u.k"
    ),
    "whole numbers beside floating point in a union": (
        "SELECT x.id FROM (SELECT k, id FROM by_k UNION ALL SELECT weight, id FROM by_day) x"
        " JOIN dim d ON x.k = d.k WHERE d.year = 1999"
    ),
    "a fact on the build side that is pruned itself": (
        "SELECT f.id, r.id AS other FROM by_day f JOIN by_k r ON f.day = r.day JOIN dim d ON r.k = d.k"
        " WHERE d.year = 1999"
    ),
    "facts that feed one another": (
        "SELECT f.id, r.id AS other FROM by_k f JOIN sorted_by_k r ON f.k = r.k JOIN dim d ON r.k = d.k"
        " AND f.k = d.k WHERE d.year = 1999 AND r.id > 3 AND f.id < 9000"
    ),
    "what an outer join asks of the side that it keeps": (
        f"{YEARS} SELECT c.*, t.k FROM c LEFT JOIN tiny t ON c.y = t.year AND t.k = 0"
    ),
    "what an outer join asks of the side that it fills": (
        f"{YEARS} SELECT t.year, c.* FROM tiny t LEFT JOIN c ON c.y = t.year WHERE t.k = 0"
    ),
    "one such where NULLs are wanted": (
        f"{YEARS} SELECT t.year, c.* FROM tiny t LEFT JOIN c ON c.y = t.year AND t.k = 0 WHERE c.y IS NULL"
    ),
    "what an anti join asks": f"{YEARS} SELECT * FROM c LEFT ANTI JOIN tiny t ON c.y = t.year AND t.k = 0",
    "what a join asks in one of two places": (
        f"{YEARS} SELECT a.y, z.y AS other FROM c a JOIN c z ON a.b = z.b JOIN tiny t ON a.y = t.year"
        " WHERE t.k = 0"
    ),
    "what a join asks of text": (
        "WITH c AS (SELECT d.text_k AS y, count(*) AS n FROM by_k f JOIN dim d ON f.k = d.k"
        " GROUP BY d.text_k) SELECT c.* FROM c JOIN tiny t ON c.y = t.k WHERE t.year = 1999"
    ),
    "what a join asks over a window": (
        "SELECT x.* FROM (SELECT d.year AS y, f.id, count(*) OVER (ORDER BY f.id, d.year, d.big_k) AS n"
        " FROM by_k f JOIN dim d ON f.k = d.k) x JOIN tiny t ON x.y = t.year WHERE t.k = 0"
    ),
    "what a join of two tables by chance asks": (
        f"{YEARS} SELECT count(*) >= 0 AS is_so FROM c JOIN tiny t ON c.y = t.year WHERE t.k > rand()"
    ),
    "an outer join in a derived table": (
        f"{FACT} JOIN (SELECT x.k, y.year FROM dim x LEFT JOIN tiny y ON x.parent = y.k) d ON f.k = d.k"
        " WHERE d.year = 2000"
    ),
    "NOT IN a subquery, on the build side": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.parent NOT IN (SELECT k FROM tiny WHERE k IS NOT NULL)"
    ),
    "an outer join on the build side whose filled side says NULL": (
        f"{FACT} JOIN (SELECT x.k, y.k AS other FROM dim x LEFT JOIN tiny y ON x.k = y.k) d ON f.k = d.k"
        " WHERE d.other IS NULL"
    ),
    "a condition on a side that an outer join fills": (
        "WITH c AS (SELECT d.year, f.k FROM by_k f JOIN dim d ON f.k = d.k GROUP BY d.year, f.k)"
        " SELECT t.k, x.k FROM tiny t LEFT JOIN c x ON x.k = t.k WHERE x.year IS NULL"
    ),
    "one that is true of NULL": (
        "SELECT t.k, x.k FROM tiny t LEFT JOIN (SELECT d.year, f.k FROM by_k f JOIN dim d ON f.k = d.k) x"
        " ON x.k = t.k WHERE coalesce(x.year, 1999) = 1999"
    ),
    "two places of which one needs all": (
        "WITH c AS (SELECT d.year, f.k FROM by_k f JOIN dim d ON f.k = d.k GROUP BY d.year, f.k)"
        " SELECT x.k, y.year FROM c x LEFT JOIN c y ON x.k = y.k AND y.year = 2000 WHERE x.year = 1999"
    ),
    "a condition on a column of ROLLUP": (
        "SELECT x.y, x.n FROM (SELECT d.year AS y, count(*) AS n FROM by_k f JOIN dim d ON f.k = d.k"
        " GROUP BY ROLLUP (d.year)) x WHERE x.y IS NULL OR x.y = 1999"
    ),
    "a condition on an aggregate": (
        "SELECT x.y FROM (SELECT f.k, max(d.year) AS y FROM by_k f JOIN dim d ON f.k = d.k GROUP BY f.k) x"
        " WHERE x.y = 1999"
    ),
    "a condition over a window": (
        "SELECT x.id, x.n FROM (SELECT f.id, d.year, row_number() OVER (ORDER BY f.id, d.big_k, d.year) AS n"
        " FROM by_k f JOIN dim d ON f.k = d.k) x WHERE x.year = 1999"
    ),
    "a condition over LIMIT": (
        "SELECT x.id FROM (SELECT f.id, d.year FROM by_k f JOIN dim d ON f.k = d.k"
        " ORDER BY f.id, d.year, d.big_k LIMIT 9) x WHERE x.year = 1999"
    ),
    "a condition over an aggregate of all": (
        "SELECT x.n FROM (SELECT 1999 AS y, count(*) AS n FROM by_k f JOIN dim d ON f.k = d.k) x"
        " WHERE x.y = 1999"
    ),
    "a condition that chance decides": (
        "SELECT count(*) >= 0 AS is_so FROM (SELECT f.id, d.year FROM by_k f JOIN dim d ON f.k = d.k) x"
        " WHERE x.year > rand() * 4000"
    ),
    "a day that is today": f"{FACT} JOIN dim d ON f.k = d.k WHERE d.day < current_date() AND d.year = 1999",
    "ROLLUP makes NULLs of keys": (
        f"{FACT} JOIN (SELECT k, parent, count(*) AS n FROM dim WHERE year = 1999"
        " GROUP BY ROLLUP (k, parent)) d"
        " ON f.k = d.k WHERE d.parent IS NULL"
    ),
    "an aggregate over nothing has a row": (
        f"{FACT} JOIN dim d ON f.k = d.k"
        " CROSS JOIN (SELECT count(*) AS n, 1 AS one FROM tiny WHERE year = 1900) t"
        " WHERE t.n = 0 AND t.one = d.year - 1998"
    ),
    "an aggregate as the key": (
        f"{FACT} JOIN (SELECT year, max(k) AS k FROM dim GROUP BY year) d ON f.k = d.k WHERE d.year = 1999"
    ),
    "a pivoted table": (
        f"{FACT} JOIN (SELECT * FROM (SELECT k, year, parent FROM dim)"
        " PIVOT (count(parent) FOR year IN (1999 AS a, 2000 AS b))) d"
        " ON f.k = d.k WHERE d.a > 0"
    ),
    "rows made of rows": (
        f"{FACT} JOIN (SELECT explode(array(k, k + 1)) AS k FROM dim WHERE year = 1999) d ON f.k = d.k"
    ),
    "a view of rows beside": (
        f"{FACT} JOIN (SELECT x.k, e.n FROM dim x LATERAL VIEW explode(array(1, 2)) e AS n"
        " WHERE year = 1999) d"
        " ON f.k = d.k AND d.n = 2"
    ),
    "a sample": (
        f"{FACT} JOIN (SELECT k FROM dim WHERE year = 1999) TABLESAMPLE (100 PERCENT) d ON f.k = d.k"
    ),
    "names that hide others": (
        f"{FACT} JOIN (SELECT f.k FROM dim f JOIN (SELECT d.k FROM tiny d WHERE d.year = 2000) d"
        " ON f.parent = d.k) d ON f.k = d.k"
    ),
    "a name with a point": (
        f"{FACT} JOIN (SELECT x.k FROM dim x WHERE x.year = 1999) d ON f.k = d.k"
        " JOIN tiny `d.x` ON d.k = `d.x`.k WHERE `d.x`.year < 2000"
    ),
    "a subquery that looks outside": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year = (SELECT max(x.year) FROM dim x"
        " WHERE x.parent = d.parent)"
    ),
    "one of two steps that looks outside": (
        f"{FACT} JOIN dim d ON f.k = d.k WHERE EXISTS (SELECT 1 FROM (SELECT k FROM tiny t"
        " WHERE t.k = d.parent) x)"
    ),
    "a subquery of a common table expression": (
        f"WITH c AS (SELECT k FROM tiny WHERE year = 2000) {FACT} JOIN dim d ON f.k = d.k"
        " WHERE d.parent IN (SELECT k FROM c)"
    ),
    "a union": (f"{FACT} JOIN (SELECT k FROM dim WHERE year = 1999 UNION SELECT k FROM tiny) d ON f.k = d.k"),
    "a union of numbers and text": (
        f"{FACT} JOIN (SELECT k FROM dim WHERE year = 1999 UNION ALL SELECT text_k FROM tiny"
        " WHERE year = 1999) d ON f.k = d.k"
    ),
    "a union without the rows of another": (
        f"{FACT} JOIN ((SELECT k FROM dim WHERE year = 1999 EXCEPT SELECT k FROM tiny) UNION SELECT 3) d"
        " ON f.k = d.k"
    ),
    "a union of what an outer join fills": (
        f"{FACT} JOIN (SELECT 3 AS k, y.year FROM dim x LEFT JOIN tiny y ON x.parent = y.k"
        " WHERE x.year = 1999 UNION ALL SELECT 4, 1999) d ON f.k = d.k WHERE d.year IS NULL"
    ),
    "a union on the side that an outer join fills": (
        "SELECT f.id, d.k FROM by_k f LEFT JOIN (SELECT 1 AS k UNION ALL SELECT 3) d ON f.k = d.k"
        " WHERE coalesce(d.k, 3) = 3"
    ),
    "NOT IN a union": f"{FACT} WHERE f.k NOT IN (SELECT 1 UNION ALL SELECT k FROM tiny WHERE k = 2)",
    "an aggregate of values": (
        f"{FACT} JOIN (SELECT count(*) AS k FROM VALUES (1), (3) AS v (k) WHERE k > 7) d ON f.k = d.k"
    ),
    "comma and outer join": (
        f"{FACT} JOIN (SELECT x.k FROM tiny t, dim x RIGHT JOIN parents p ON x.parent = p.k"
        " WHERE t.year = 2000) d"
        " ON f.k = d.k"
    ),
}


@pytest.mark.parametrize("sql", PRUNED.values(), ids=PRUNED)
def test_a_scan_is_pruned(sql: str, harness: Harness) -> None:
    checked = harness.check(sql)
    assert "by_k.k" in checked.applied, checked.pruned.filters
    assert checked.files("by_k").selected < max(1, checked.files("by_k").total)


@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)


@pytest.mark.parametrize("column", ["d.day", "d.at", "d.at_utc", "CAST(d.at_utc AS STRING) || '-08:00'"])
def test_every_comparison_with_the_clock_is_one_with_its_bounds(column: str, harness: Harness) -> None:
    clocks = ("now()", "current_timestamp() - INTERVAL 3 HOURS", "current_timestamp + INTERVAL '1' MONTH")
    conditions = [f"{column} {operator} {clock}" for clock in clocks for operator in ("<", "<=", ">", ">=")]
    conditions.append(f"{column} BETWEEN now() - INTERVAL 1 WEEK AND now()")
    for condition in conditions:
        checked = harness.check(f"{FACT} JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND {condition}")
        assert "by_k.k" in checked.applied, (condition, checked.pruned.filters)
        assert "CAST('" in checked.applied["by_k.k"].build.predicate


def test_rows_that_are_valid_now_give_keys(harness: Harness) -> None:
    valid = "(1, DATE '1999-01-01', DATE '2000-01-01'), (3, DATE '1999-01-01', DATE '9000-01-01')"
    joined = f"{FACT} JOIN (VALUES {valid}) AS v (k, since, until) ON f.k = v.k"
    checked = harness.check(f"{joined} WHERE now() BETWEEN since AND until")
    assert checked.applied["by_k.k"].value_count == 1


def test_what_is_made_of_the_clock_is_no_filter_by_itself(harness: Harness) -> None:
    checked = harness.check(f"{FACT} JOIN dim d ON f.k = d.k WHERE d.at_utc < date_trunc('DAY', now())")
    assert checked.applied == {}
    assert Reason.BUILD_NOT_DETERMINISTIC in {
        filter_record.reason for filter_record in checked.pruned.filters
    }


def test_parameters_by_position_choose_keys(harness: Harness) -> None:
    query = (
        "SELECT f.id, ? AS said FROM by_k f JOIN dim d ON f.k = d.k"
        " WHERE d.year = ? AND '?' <> ? AND d.day > CAST(? AS DATE) -- ?"
    )
    for year, text in ((1998, "a"), (1999, "a"), (1999, "O'Neil"), (2000, "?")):
        said = (Parameter(7), Parameter(year), Parameter(text), Parameter("1969-12-28"))
        checked = harness.check(query, said)
        assert "by_k.k" in checked.applied


def test_other_parameters_by_position_are_other_keys(harness: Harness) -> None:
    query = "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = ? AND d.parent < ?"
    years = [harness.check(query, (Parameter(year), Parameter(4))) for year in (1998, 1999)]
    assert years[0].applied["by_k.k"].value_count > 0
    assert years[0].pruned.sql != years[1].pruned.sql
