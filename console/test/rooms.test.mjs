// Tests what the rooms of tables and operators need no browser for: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../testing/bundled.mjs";

const TABLE = {
  source: "ICEBERG",
  snapshotId: 1,
  acceptedFilterColumns: [{ column: "day", by: "PARTITION" }],
  partitionSpec: [],
  dataFileCount: 10,
  totalBytes: 10_000_000_000,
  recordCount: 5,
  recordCountAtMost: 5,
};

test("a look that fails is repeated more and more rarely, and one that is refused is not", async () => {
  const { pauseMs, mayRecover } = await rules("gateway/next_look");
  assert.deepEqual([0, 1, 2, 5, 1_000].map((failures) => pauseMs(2_000, failures)), [2_000, 4_000, 8_000, 60_000, 60_000]);
  assert.equal(pauseMs(90_000, 3), 90_000);
  assert.deepEqual([0, 408, 429, 500, 503].map(mayRecover), [true, true, true, true, true]);
  assert.deepEqual([400, 401, 403, 404, 422].map(mayRecover), [false, false, false, false, false]);
});

test("names are quoted in the queries of metadata, whatever they contain", async () => {
  const { boundsSql, describedColumns, filesSql, sqlName } = await rules("tables/metadata_sql");
  assert.equal(sqlName({ catalog: "lake", schema: "shop.north", table: "sales" }), "lake.shop.north.sales");
  const odd = { catalog: "lake", schema: "a b", table: "x`; DROP TABLE y; --" };
  assert.equal(sqlName(odd), "lake.`a b`.`x``; DROP TABLE y; --`");
  assert.match(filesSql(odd, false), /CAST\(NULL AS STRING\) AS part/);
  assert.ok(filesSql(odd, true).includes("FROM `lake`.`a b`.`x``; DROP TABLE y; --`.files"));
  const columns = [
    { name: "a`b", type: "long" },
    { name: "order", type: "binary" },
    { name: "nested", type: "struct<1: x: int>" },
  ];
  const described = describedColumns(columns);
  assert.deepEqual(described.map((column) => column.name), ["a`b", "order"]);
  const sql = boundsSql(odd, described);
  assert.match(sql, /min\(readable_metrics\.`a``b`\.lower_bound\)/);
  assert.match(sql, /sum\(readable_metrics\.`order`\.null_value_count\) AS n1,\s+CAST\(NULL AS STRING\) AS l1/);
});

test("advice is given where it helps", async () => {
  const { adviceOf, reasonsOf, showsCounts } = await rules("tables/advice");
  const pruning = (selected, queries = 20) => ({ queries, dataFiles: { total: 100, selected }, filters: { byReason: {} } });
  assert.deepEqual(adviceOf(TABLE, pruning(10)), []);
  assert.match(adviceOf({ ...TABLE, source: "OTHER" }, null)[0], /in its own way/);
  assert.match(adviceOf({ ...TABLE, acceptedFilterColumns: [{ column: "a", by: "BOUNDS" }] }, null)[0], /tell files apart/);
  assert.match(adviceOf({ ...TABLE, dataFileCount: 500, totalBytes: 5_000_000 }, null)[0], /merges them/);
  assert.match(adviceOf({ ...TABLE, dataFileCount: 500, totalBytes: 5_000_000, partitionSpec: [{}] }, null)[0], /one partition/);
  assert.match(adviceOf({ ...TABLE, recordCount: null }, null)[0], /delete rows/);
  assert.match(adviceOf(TABLE, pruning(90))[0], /read most/);
  assert.deepEqual(adviceOf(TABLE, pruning(90, 3)), []);
  // Nothing is said of a table whose numbers the gateway hides.
  const hidden = { ...TABLE, dataFileCount: 0, totalBytes: 0, recordCount: null, recordCountAtMost: null };
  assert.deepEqual(adviceOf(hidden, null), []);
  assert.deepEqual([TABLE, hidden, { ...hidden, snapshotId: null }].map(showsCounts), [true, false, true]);
  const byReason = { APPLIED: 9, ANTI_JOIN: 2, DISABLED: 5, TOO_COMPLEX: 0 };
  assert.deepEqual(reasonsOf({ filters: { byReason } }), [["DISABLED", 5], ["ANTI_JOIN", 2]]);
});

test("Prometheus' text becomes numbers, and other lines are left out", async () => {
  const { labelled, samplesIn, valueOf } = await rules("operate/exposition");
  const samples = samplesIn(
    '# HELP a_total Text {with="labels"} 1\n# TYPE a_total counter\na_total{cache="x",outcome="HIT"} 3.0\n' +
      'a_total{cache="y, \\"z\\"",outcome="HIT"} 1e+03\nb 2\nc{le="+Inf"} +Inf\nd NaN\nbroken line here now\n\n',
  );
  assert.deepEqual([...samples.keys()], ["a_total", "b", "c", "d"]);
  assert.equal(valueOf(samples, "a_total", { cache: "x" }), 3);
  assert.equal(valueOf(samples, "a_total", { cache: 'y, "z"', outcome: "HIT" }), 1000);
  assert.deepEqual([valueOf(samples, "b"), valueOf(samples, "c"), valueOf(samples, "d"), valueOf(samples, "e")], [2, Infinity, null, null]);
  assert.deepEqual(labelled(samples, "a_total", "cache"), ["x", 'y, "z"']);
});

test("parts of the room for operators go by rights", async () => {
  const { mayOperate, sectionsFor } = await rules("operate/sections");
  const login = (...rights) => ({ principal: "kim", hasLogin: true, rights });
  assert.equal(mayOperate(login()), false);
  assert.deepEqual(sectionsFor(login("filters")).map((each) => each.name), ["queries", "gateway", "filters"]);
  assert.deepEqual(sectionsFor(login("audit", "keys")).map((each) => each.name), ["queries", "gateway", "keys", "audit"]);
});

test("lines of the audit log and words of fields are read, and a line that was cut off is left out", async () => {
  const { eventsIn } = await rules("operate/audit_lines");
  const { wordsIn } = await rules("operate/typed_words");
  assert.deepEqual(eventsIn('{"position":9223372036854775807,"action":"QUERY"}\n{"position":2}\n{"posi'), [
    { position: 9223372036854775807n, action: "QUERY" },
    { position: 2 },
  ]);
  assert.deepEqual(wordsIn(" reader,analyst  reader\n"), ["reader", "analyst"]);
});
