// Tests that the layout of SQL changes white space alone: `npm test`.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { rules } from "../testing/bundled.mjs";

const { formatted, tokensIn } = await rules("ask/format_sql", "ask/sql_tokens");
const textsOf = (sql) => tokensIn(sql)?.map(({ text }) => text);

test("clauses, conditions and long lists begin lines", () => {
  const sql = "with a as (select b,c from t where x=1) select d.month, count(*) as sales_of_all_the_months, sum(s.amount) as amount_of_all_sales from sales s left outer join calendar d on s.day_key = d.day_key and s.x between 1 and 2 where d.month = :month and d.name in ('a', 'b') or left(d.name, 1) is distinct from 'x' group by d.month order by 1 limit 10";
  assert.equal(formatted(sql), `with a as (
  select b, c
  from t
  where x=1
)
select d.month,
  count(*) as sales_of_all_the_months,
  sum(s.amount) as amount_of_all_sales
from sales s
left outer join calendar d on s.day_key = d.day_key
  and s.x between 1 and 2
where d.month = :month
  and d.name in ('a', 'b')
  or left(d.name, 1) is distinct from 'x'
group by d.month
order by 1
limit 10`);
});

test("what is in texts, names and comments stays, and what does not end is left alone", () => {
  for (const sql of [
    "select r'\\', ' from  x'",
    "select r\"\\\", ' from  x'",
    "select 'it''s  from', \"a \\\" from  b\", `a  `` from  b`",
    "select 1 -- from  here \\\n  to  there\n, 2",
    "select /*+ broadcast( a ) */ 1 /* a /* b  from */ c */ from t",
    "select 1e-5, .5, 1.0bd, x::int, a.from, t.`select`, :p, a->b, a<=>b, x[1], {'a'  : 1}",
    "select extract(year from  ts), trim(both  'x' from y), row_number() over (partition by a order  by b) from t",
    "select é, 数  from  t",
  ]) {
    const found = formatted(sql);
    assert.deepEqual(textsOf(found), textsOf(sql), sql);
    assert.equal(found.replace(/\s+/g, ""), sql.replace(/\s+/g, ""));
    assert.equal(formatted(found), found, "once is enough");
  }
  assert.ok(formatted("select r'\\', ' from  x'").includes("' from  x'"));
  assert.ok(formatted("select 1 -- from  here \\\n  to  there\n, 2").includes("-- from  here \\\n  to  there\n"));
  for (const sql of ["select 'a", "select  `a", "select /* a /* b */  1", "", "  "]) {
    assert.equal(formatted(sql), sql);
  }
});

test("the texts of the tests keep all their tokens", () => {
  const folder = join(import.meta.dirname, "../../tests");
  const paths = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith(".sql"));
  let seen = 0;
  for (const path of paths) {
    for (const sql of readFileSync(join(folder, path), "utf8").split(";")) {
      const found = formatted(sql);
      assert.deepEqual(textsOf(found), textsOf(sql), path);
      assert.equal(formatted(found), found, `${path}: ${sql}`);
      seen += 1;
    }
  }
  assert.ok(seen > 100, `${seen}`);
});

test("a word that belongs to an operator begins no line", () => {
  assert.equal(formatted("select 1 from t where x = :limit and y > :from and a::from is null"), `select 1
from t
where x = :limit
  and y > :from
  and a::from is null`);
  assert.equal(formatted("select 1 from s3://bucket/where"), "select 1\nfrom s3://bucket/where");
});

test("a text between dollars stays with its white space", () => {
  for (const sql of ["select $$a  from  b$$ from t", "select $tag$a  from  b$tag$ from t"]) {
    assert.equal(formatted(sql), sql);
  }
});

test("many words of joins without a join are no reason to wait", () => {
  const before = process.cpuUsage().user;
  formatted("left ".repeat(10_000));
  assert.ok(process.cpuUsage().user - before < 5_000_000);
  assert.equal(formatted("select 1 from a natural left outer join b"), "select 1\nfrom a\nnatural left outer join b");
});

test("the value of a setting stays as it is", () => {
  for (const sql of ["SET a.b=c,d  from e", "/* why */ -- so\nset x = 1,2", "RESET a,b"]) {
    assert.equal(formatted(sql), sql);
  }
});
