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

test("lines of the audit log and words of fields are read, and a log that was cut off is no answer", async () => {
  const { eventsIn } = await rules("operate/audit_lines");
  const { wordsIn } = await rules("operate/typed_words");
  assert.deepEqual(eventsIn('{"position":9223372036854775807,"action":"QUERY"}\n{"position":2}\n'), [
    { position: 9223372036854775807n, action: "QUERY" },
    { position: 2 },
  ]);
  assert.deepEqual(eventsIn(""), []);
  // Otherwise it would look as if nothing more had happened.
  assert.throws(() => eventsIn('{"position":2}\n{"posi'), (error) => error.problem.code === "ANSWER_CUT_OFF");
  assert.deepEqual(wordsIn(" reader,analyst  reader\n"), ["reader", "analyst"]);
});

test("numbers beyond those of JavaScript are shown, and break no page", async () => {
  const { count, counted, share, size } = await rules("words/numbers");
  const { adviceOf, showsCounts } = await rules("tables/advice");
  const many = 10n ** 19n;
  assert.deepEqual([size(2n * 10n ** 16n), count(many), counted(many, "row")], ["20.0 PB", "10,000,000,000,000,000,000", "10,000,000,000,000,000,000 rows"]);
  assert.equal(share(many, 4n * many), 25);
  const huge = { ...TABLE, dataFileCount: many, totalBytes: many, recordCount: many, recordCountAtMost: many };
  assert.equal(showsCounts(huge), true);
  const pruning = { queries: 20, dataFiles: { total: many, selected: many - 5n }, filters: { byReason: {} } };
  assert.match(adviceOf(huge, pruning)[0], /merges them/);
  assert.match(adviceOf(huge, pruning)[1], /read most/);
});

test("a moment has its seconds and its time zone where both matter", async () => {
  const { exactClock } = await rules("words/numbers");
  const said = exactClock("2026-01-02T03:04:05Z");
  assert.match(said, /\b(0?[345]):\d\d:05|:05\b/);
  const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" }).formatToParts(new Date("2026-01-02T03:04:05Z")).find((part) => part.type === "timeZoneName");
  assert.ok(said.includes(zone.value), said);
});

test("a list that is full is not said to be all", async () => {
  const { atLeast } = await rules("words/numbers");
  assert.deepEqual([atLeast(199, 200, "key"), atLeast(200, 200, "key"), atLeast(1, 200, "key")], ["199 keys", "200 or more keys", "1 key"]);
});

test("how many columns a file has is compared only with a number of the same kind", async () => {
  const { widthOf } = await rules("tables/widths");
  const flat = [{ type: "long" }, { type: "string" }];
  assert.deepEqual([widthOf(1, flat), widthOf(2n, flat), widthOf(-1, flat), widthOf(null, flat)], ["1 of 2", "2 of 2", "not recorded", "not recorded"]);
  // A file that was written before a column was dropped has more than the table has now.
  assert.equal(widthOf(3, flat), "3");
  // The fields in a nested column count one by one in a file.
  assert.equal(widthOf(2, [{ type: "long" }, { type: "struct<1: x: int, 2: y: int>" }]), "2");
});

test("what maintenance does by itself is said as it is set", async () => {
  const { asksFirst, scheduleWords } = await rules("tables/maintenance_words");
  const schedule = { isOn: true, intervalS: 600, appendedFiles: 0, idleS: 0, operations: ["compact", "expire"] };
  assert.equal(scheduleWords({ ...schedule, isOn: false }), "The gateway does none by itself.");
  assert.equal(scheduleWords(schedule), "The gateway does compact, expire by itself: after upserts, at least 10 min 0 s apart.");
  assert.match(scheduleWords({ ...schedule, appendedFiles: 50 }), /50 ingested files are compacted, as often at most/);
  assert.match(scheduleWords({ ...schedule, idleS: 60 }), /1 min 0 s after the last ingest/);
  assert.deepEqual([["compact"], ["compact", "expire"], ["removeOrphans"]].map(asksFirst), [false, true, true]);
});

test("an id needs no page that came by TLS", async (t) => {
  const { newId } = await rules("gateway/new_id");
  const known = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  t.after(() => Object.defineProperty(globalThis, "crypto", known));
  Object.defineProperty(globalThis, "crypto", { configurable: true, value: { getRandomValues: (bytes) => bytes.fill(255) } });
  assert.equal(newId(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
});

test("who clicks twice in a row has not been asked yet", async () => {
  const { stageAfter } = await rules("page/stages");
  assert.deepEqual([stageAfter("idle", 1), stageAfter("sure", 2), stageAfter("sure", 1)], ["sure", "sure", "busy"]);
  // A keyboard counts no clicks.
  assert.deepEqual([stageAfter("idle", 0), stageAfter("sure", 0)], ["sure", "busy"]);
});

test("a replica is alive as long as the gateway does not count it as lost", async () => {
  const { stateOf } = await rules("operate/replica_words");
  const words = [null, 0, 59_999, 60_000].map((silentMs) => stateOf({ silentMs }, 60_000));
  assert.deepEqual(words, ["has ended", "alive", "alive", "silent for 1 min 0 s"]);
});

test("advice says what is left of what it is about, and what it rests on", async () => {
  const { basisOf, gainOf, leftOf, titleOf } = await rules("tables/layout_advice");
  const amount = (dataFiles, bytes) => ({ dataFiles, bytes });
  const sort = { kind: "SORT", columns: ["day", "<b>"], before: amount(300, 4_000_000_000), after: amount(20, 1_000_000_000) };
  assert.equal(titleOf(sort), "Sort by day, <b>");
  assert.equal(gainOf(sort), "1.0 GB instead of 4.0 GB, 75 % less; 20 instead of 300 files");
  assert.equal(leftOf(sort), 25);
  // A compaction opens fewer files, and may read somewhat more.
  const compaction = { kind: "COMPACTION", columns: [], before: amount(500, 1_000), after: amount(1, 1_100) };
  assert.equal(gainOf(compaction), "1 instead of 500 files, 99 % less; 1.1 kB instead of 1.0 kB");
  assert.equal(leftOf(compaction), 0.2);
  assert.match(gainOf({ ...sort, after: amount(300, 5_000_000_000) }), /25 % more/);
  assert.equal(gainOf({ ...sort, before: amount(0, 0), after: amount(0, 0) }), "0 B instead of 0 B, 0 % less; 0 instead of 0 files");
  assert.equal(titleOf({ kind: "A_NEW_KIND", columns: [] }), "A_NEW_KIND");
  const workload = { scans: 1, unexplainedScans: 2, recorded: amount(9, 900), simulated: amount(8, 800), columns: [] };
  assert.match(basisOf({ workload, sampledRows: 10n ** 19n }), /^Predicted for 1 recorded scan; 2 others cannot be simulated, from 10,000,000,000,000,000,000 sampled rows\. They read 900 B/);
});

test("maintenance is offered to who may ask for it, and once at a time", async () => {
  const { isMaintained, mayRequest } = await rules("tables/maintenance_words");
  // An older gateway does not say it.
  assert.deepEqual([null, {}, { mayRequest: true }, { mayRequest: false }].map(mayRequest), [false, true, true, false]);
  const of = (...ends) => ({ maintenances: ends.map((endedAt) => ({ endedAt })) });
  assert.deepEqual([null, of(), of("2026-01-01"), of(null, "2026-01-01")].map(isMaintained), [false, false, false, true]);
});

test("a person has the roles of all keys that count", async () => {
  const { peopleOf } = await rules("operate/people");
  const key = (principal, roles, part = {}) => ({ principal, roles, revokedAt: null, expiresAt: null, ...part });
  const keys = [
    key("lou", ["b", "a"]), key("kim", []), key("lou", ["c"], { expiresAt: "2026-01-02T00:00:00Z" }),
    key("lou", ["old"], { expiresAt: "2025-12-31T00:00:00Z" }), key("eve", ["admin"], { revokedAt: "2025-01-01T00:00:00Z" }),
  ];
  assert.deepEqual(peopleOf(keys, Date.parse("2026-01-01T00:00:00Z")), [{ name: "kim", roles: "" }, { name: "lou", roles: "a, b, c" }]);
});
