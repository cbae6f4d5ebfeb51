// Tests what the room Explain needs no browser for: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../testing/bundled.mjs";

const PROGRESS = { phase: "RUNNING", percent: 40, stages: { completed: 1, total: 3 }, tasks: null, rows: 7, bytes: null, scans: [] };
const RUNNING = { state: "RUNNING", queue: null, error: null, queuedMs: 1, elapsedMs: 20 };
const event = (name, data) => ({ name, data: JSON.stringify(data) });
const DONE = event("done", { queryId: "q", status: { ...RUNNING, state: "SUCCEEDED", elapsedMs: 90, progress: null } });

function scan(table, selected, total, more = {}) {
  const level = { selected, total };
  return { table, snapshotId: 1, partitions: level, manifests: level, dataFiles: level, bytes: level, rows: { total, read: selected }, hasRun: true, native: false, planningMs: 0, ...more };
}

/** A gateway that answers each question with the next of these: events, then what ends the stream. */
function gateway(streams, statuses = []) {
  const asked = { streams: 0, statuses: 0, pauses: [] };
  const next = async (answers, name) => {
    asked[name] += 1;
    const answer = answers.shift();
    if (answer instanceof Error) {
      throw answer;
    }
    return answer;
  };
  return {
    asked,
    events: async (onEvent, signal) => {
      for (const each of (await next(streams, "streams")) ?? []) {
        if (each instanceof Error) {
          throw each;
        }
        if (!signal.aborted) {
          onEvent(each);
        }
      }
    },
    status: () => next(statuses, "statuses"),
    shown: async () => undefined,
    pause: async (ms) => asked.pauses.push(ms),
    now: () => 1_000,
  };
}

async function followed(source) {
  const { Following, Refused } = await rules("explain/following", "gateway/requests");
  const seen = [];
  const following = new Following(typeof source === "function" ? source(Refused) : source, "QUEUED", (live) => seen.push(live));
  await following.run();
  return seen;
}

const refusedBy = (Refused, status) => new Refused({ title: "", status, detail: `is ${status}`, code: `C${status}`, errors: [] });

test("events are read from pieces that are cut anywhere", async () => {
  const { EventText } = await rules("gateway/event_text");
  const text = 'retry: 1000\n\nid: 1\nevent: state\ndata: {"a":\ndata: 1}\n\n: still there\n\nevent: empty\n\nevent: done\r\ndata:x: y\r\n\r\ndata: cut off';
  for (const size of [1, 2, 7, text.length]) {
    const reader = new EventText();
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
    assert.deepEqual(pieces.flatMap((piece) => reader.take(piece)), [
      { name: "state", data: '{"a":\n1}' },
      { name: "done", data: "x: y" },
    ]);
  }
});

test("an event without an end takes no more memory than a bound", async () => {
  const { EventText } = await rules("gateway/event_text");
  const lines = new EventText();
  assert.throws(() => lines.take(`data: ${"x".repeat(4_000_001)}`), (error) => error.problem.code === "EVENT_TOO_LARGE");
  const event = new EventText();
  const line = `data: ${"x".repeat(999_000)}\n`;
  assert.throws(() => [1, 2, 3, 4, 5, 6].forEach(() => event.take(line)), (error) => error.problem.code === "EVENT_TOO_LARGE");
});

test("a query is followed by its events to its end", async () => {
  const source = gateway([[event("state", RUNNING), event("progress", { ...PROGRESS, elapsedMs: 50 }), DONE]]);
  const seen = await followed(source);
  assert.deepEqual(seen.map(({ status }) => [status.state, status.elapsedMs, status.progress?.percent ?? null]), [
    ["RUNNING", 20, null],
    ["RUNNING", 50, 40],
    ["SUCCEEDED", 90, null],
  ]);
  assert.deepEqual(source.asked, { streams: 1, statuses: 0, pauses: [] });
});

test("a stream that ends early is opened again, and what was known stays", async () => {
  const source = gateway([[event("state", RUNNING), event("progress", { ...PROGRESS, elapsedMs: 50 })], [event("state", RUNNING)], [DONE]]);
  const seen = await followed(source);
  assert.equal(source.asked.streams, 3);
  assert.equal(seen[2].status.progress.percent, 40);
  assert.deepEqual(source.asked.pauses, [1_000, 1_000]);
});

test("streams that bring nothing are opened again a few times, and then the state is asked for", async () => {
  const { MOST_RECONNECTS } = await rules("explain/following");
  const broken = Array.from({ length: 40 }, () => new TypeError("network error"));
  const source = gateway(broken, [RUNNING, { ...RUNNING, state: "FAILED" }]);
  const seen = await followed(source);
  assert.equal(source.asked.streams, MOST_RECONNECTS + 1);
  assert.equal(source.asked.statuses, 2);
  // Longer and longer before, and at its own pace after.
  assert.deepEqual(source.asked.pauses, [2_000, 4_000, 8_000, 16_000, 1_000, 1_000]);
  assert.deepEqual(seen.map(({ status, isAsking }) => [status.state, isAsking]), [["QUEUED", true], ["RUNNING", true], ["FAILED", true]]);
});

test("where there is no place for a stream, or none is passed on, the state is asked for at once", async () => {
  for (const status of [429, 404, 406]) {
    const source = (Refused) => gateway([refusedBy(Refused, status)], [refusedBy(Refused, 503), { ...RUNNING, state: "CANCELED" }]);
    const seen = await followed(source);
    assert.equal(seen.at(-1).status.state, "CANCELED");
    assert.equal(seen.at(-1).problem, null);
  }
});

test("a query that nobody may see any more is not asked for again", async () => {
  const seen = await followed((Refused) => gateway([refusedBy(Refused, 404)], [refusedBy(Refused, 404)]));
  assert.deepEqual(seen.map(({ problem }) => problem?.code ?? null), [null, "C404"]);
});

test("a text that is no event ends no following", async () => {
  const source = gateway([[{ name: "state", data: "<html>" }], [DONE]]);
  assert.equal((await followed(source)).at(-1).status.state, "SUCCEEDED");
});

test("nothing is asked after the page was left, and nothing while it is hidden", async () => {
  const { Following } = await rules("explain/following");
  const source = gateway([[event("state", RUNNING)], [DONE]]);
  const seen = [];
  const following = new Following(source, "QUEUED", (live) => {
    seen.push(live.status.state);
    following.leave();
  });
  await following.run();
  assert.deepEqual([seen, source.asked.streams], [["RUNNING"], 1]);
  const hidden = gateway([[DONE]]);
  const waiting = new Following({ ...hidden, shown: async () => waiting.leave() }, "QUEUED", () => seen.push("never"));
  await waiting.run();
  assert.deepEqual([seen, hidden.asked.streams], [["RUNNING"], 0]);
});

test("two runs are compared by table, whatever the order of their scans", async () => {
  const { comparedTables, leftOut, sum } = await rules("explain/compare_scans");
  const written = [scan("lake.s.days", 1, 1), scan("lake.s.SALES", 100, 100), scan("lake.s.sales", 90, 100, { snapshotId: 2 })];
  const pruned = [scan("lake.s.sales", 5, 100, { snapshotId: 2 }), scan("lake.s.sales", 7, 100), scan("lake.s.other", 1, 2, { rows: { total: 2, read: null } })];
  const [sales, other, days] = comparedTables(written, pruned);
  assert.deepEqual([sales.table, sales.hasMoved, sales.written.scans, sales.pruned.scans], ["lake.s.sales", false, 2, 2]);
  assert.deepEqual([sales.written.bytes, sales.pruned.bytes], [{ total: 200, selected: 190 }, { total: 200, selected: 12 }]);
  assert.deepEqual([sales.written.rows, sales.pruned.rows, other.pruned.rows], [190, 12, null]);
  assert.deepEqual([other.table, other.written, days.table, days.pruned], ["lake.s.other", null, "lake.s.days", null]);
  assert.equal(comparedTables([scan("a", 1, 1)], [scan("a", 1, 1, { snapshotId: 9n })])[0].hasMoved, true);
  assert.equal(sum([2 ** 53 - 1, 10n ** 18n]), 10n ** 18n + BigInt(2 ** 53 - 1));
  assert.equal(sum([1n, 2]), 3);
  assert.deepEqual([leftOut(100, 7), leftOut(3, 3), leftOut(1, 2), leftOut(1_000, 999), leftOut(1_000, 1), leftOut(5, 0)], ["93 %", "the same", "more", "under 1 %", "over 99 %", "100 %"]);
});

test("row groups of a table are added up if all its scans have them", async () => {
  const { comparedTables } = await rules("explain/compare_scans");
  const of = (selected) => scan("a", 1, 1, { rowGroups: selected === null ? null : { total: 8, selected } });
  const sums = (scans) => comparedTables([], scans)[0].pruned.rowGroups;
  assert.deepEqual([sums([of(3)]), sums([of(3), of(0)])], [{ total: 8, selected: 3 }, { total: 16, selected: 3 }]);
  // A gateway of the version before does not say.
  assert.deepEqual([sums([of(3), of(null)]), sums([scan("a", 1, 1)])], [null, null]);
});

test("the wait for a turn is no part of the time that is compared", async () => {
  const { workMs } = await rules("explain/compare_scans");
  const timings = { queuedMs: 1_000, parseMs: 1, detectMs: 2, filtersMs: 3, planMs: 4, runMs: 50 };
  assert.deepEqual(workMs({ timings }), { planning: 10, running: 50 });
});

test("a link has the text for others, unless it is too long for an address", async () => {
  const { linkOf } = await rules("explain/explain_link");
  const { routeOf } = await rules("page/route");
  const text = { sql: "SELECT '&=#?<b>' FROM `a b`", catalog: "lake", schema: null };
  const route = routeOf(linkOf("11-22", text, "33-44"));
  assert.deepEqual([route.room, route.id, Object.fromEntries(route.values)], ["explain", "11-22", { with: "33-44", catalog: "lake", sql: text.sql }]);
  assert.equal(linkOf("11-22", { ...text, sql: "x".repeat(5_000) }, null), "#/explain/11-22");
});

test("the text as written is asked for without filters", async () => {
  const { bodyAsWritten } = await rules("explain/as_written");
  const question = { sql: "SELECT 1", catalog: "lake", schema: null, parameters: { a: 1 } };
  assert.deepEqual(bodyAsWritten(question), { ...question, dynamicFiltering: { enabled: false } });
});

test("a scan in the plan says what it has read so far", async () => {
  const { readingByTable, readingOfTable, wordsOfReading } = await rules("explain/plan_reading");
  const progress = [
    { table: "lake.s.Sales", rows: 1_250_000, dataFiles: { read: 3, selected: 8 } },
    { table: "lake.s.days", rows: null, dataFiles: { read: null, selected: null } },
    { table: "lake.s.twice", rows: 1, dataFiles: { read: 1, selected: 1 } },
    { table: "lake.s.twice", rows: 2, dataFiles: { read: 1, selected: 1 } },
    { table: null, rows: 2, dataFiles: { read: 1, selected: 1 } },
  ];
  const live = readingByTable([], progress);
  const words = ([table, reading]) => [table, reading === null ? null : wordsOfReading(reading)];
  assert.deepEqual([...live].map(words), [["lake.s.sales", "1.3 M rows, 3 of 8 files"], ["lake.s.days", "not known yet"], ["lake.s.twice", null]]);
  const rowsOf = (name) => readingOfTable(name, live)?.rows;
  assert.deepEqual(["SALES", "s.sales", "LAKE.s.sales", "ales", "other.sales", "twice", "", "x"].map(rowsOf), [1_250_000, 1_250_000, 1_250_000, undefined, undefined, undefined, undefined, undefined]);
  // Which of the two "sales" is, nobody can say, also where one of them is scanned twice.
  const two = readingByTable([scan("lake.a.sales", 1, 2), scan("lake.a.sales", 1, 2), scan("lake.b.sales", 2, 2)], []);
  assert.deepEqual([readingOfTable("sales", two), readingOfTable("b.sales", two)?.files?.selected], [undefined, 2]);
  assert.equal(wordsOfReading(readingByTable([scan("lake.s.Sales", 3, 10)], []).get("lake.s.sales")), "3 of 10 files");
});
