// Tests what a chart has on its axes, and what it says of the rows that it leaves out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../testing/bundled.mjs";

const column = (name, type) => ({ name, type, nullable: true });
const [DAY, AT, WORD, COUNT, SHARE, LIST] = [
  column("day", "DATE"),
  column("at", "TIMESTAMP"),
  column("word", "STRING"),
  column("sales", "BIGINT"),
  column("share", "DECIMAL(38,2)"),
  column("list", "ARRAY<INT>"),
];

test("types choose the kind and the axes", async () => {
  const { firstChoice } = await rules("ask/chart/axes");
  const found = (...columns) => {
    const choice = firstChoice(columns);
    return choice === null ? null : [choice.kind, choice.xName, choice.yName];
  };
  assert.deepEqual(found(COUNT, DAY, WORD), ["line", "day", "sales"]);
  assert.deepEqual(found(COUNT, WORD), ["bar", "word", "sales"]);
  assert.deepEqual(found(COUNT, SHARE), ["scatter", "sales", "share"]);
  assert.deepEqual(found(COUNT), ["bar", "sales", "sales"]);
  assert.deepEqual([found(WORD), found(DAY), found(LIST), found(COUNT, LIST), found()], [null, null, null, ["bar", "sales", "sales"], null]);
});

test("each kind offers the columns that it can draw", async () => {
  const { bottomsFor, chosen, sidesIn, withKind } = await rules("ask/chart/axes");
  const columns = [DAY, AT, WORD, COUNT, SHARE, LIST];
  assert.deepEqual(["bar", "line", "scatter"].map((kind) => bottomsFor(kind, columns)), [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 3, 4]]);
  assert.deepEqual(sidesIn(columns), [3, 4]);
  assert.deepEqual(withKind(chosen("bar", 2, 3, columns), "scatter", columns), chosen("scatter", 0, 3, columns));
  assert.equal(withKind(chosen("bar", 0, 1, [WORD, COUNT]), "scatter", [WORD, COUNT])?.xName, "sales");
});

test("a choice stays while its columns do", async () => {
  const { chosen, fitting } = await rules("ask/chart/axes");
  const own = chosen("bar", 0, 1, [WORD, COUNT]);
  assert.deepEqual(fitting(own, [WORD, COUNT, SHARE]), own);
  assert.deepEqual(fitting(own, [COUNT, WORD]).xName, "word");
  assert.deepEqual(fitting(own, [WORD, column("sales", "STRING"), SHARE]).yName, "share");
  assert.equal(fitting(own, [WORD]), null);
});

test("points have the places of their values, and rows without one are counted", async () => {
  const { chosen, pointsOf } = await rules("ask/chart/axes", "ask/chart/points");
  const columns = [DAY, SHARE];
  const rows = [["2026-01-03", "1.50"], ["2026-01-01", "12345678901234567890.25"], [null, "1"], ["2026-01-02", null], ["2026-01-02", "NaN"]];
  const { points, unplaced, beyond } = pointsOf(rows, columns, chosen("line", 0, 1, columns));
  assert.deepEqual([unplaced, beyond], [3, 0]);
  assert.deepEqual(points.map((point) => point.xText), ["2026-01-01", "2026-01-03"]);
  assert.equal(points[0].yText, "12345678901234567890.25");
  assert.equal(points[1].x, Date.UTC(2026, 0, 3));
  const big = pointsOf([["a", 9223372036854775807n], [null, 2]], [WORD, COUNT], chosen("bar", 0, 1, [WORD, COUNT]));
  assert.deepEqual(big.points.map((point) => [point.x, point.xText, point.yText]), [[0, "a", "9223372036854775807"], [1, "NULL", "2"]]);
});

test("a chart of many rows says that it is one of a part", async () => {
  const { chosen, pointsOf, wordsFor } = await rules("ask/chart/axes", "ask/chart/points", "ask/chart/chart");
  const columns = [WORD, COUNT];
  const rows = Array.from({ length: 150 }, (_, place) => [`w${place}`, place === 3 ? null : place]);
  const choice = chosen("bar", 0, 1, columns);
  const drawn = pointsOf(rows, columns, choice);
  assert.deepEqual([drawn.points.length, drawn.unplaced, drawn.beyond], [100, 1, 49]);
  assert.equal(
    wordsFor(drawn, choice, 150, 2000),
    "The first 100 of 150 loaded rows are drawn. 1 row without a value on an axis is left out. 2,000 rows are in the result; scroll down in the table to load more.",
  );
  const one = pointsOf(rows.slice(0, 1), columns, choice);
  assert.equal(wordsFor(one, choice, 1, 1), "1 row is drawn.");
});

test("moments are placed as they are written, in every time zone of a browser", async () => {
  const { momentOf } = await rules("ask/chart/points");
  const noon = Date.UTC(2026, 2, 29, 12);
  const written = ["2026-03-29T12:00:00Z", "2026-03-29T12:00:00", "2026-03-29 12:00:00", "2026-03-29T14:00:00+02:00"];
  assert.deepEqual(written.map(momentOf), written.map(() => noon));
  assert.equal(momentOf("2026-03-29"), Date.UTC(2026, 2, 29));
  assert.ok(Number.isNaN(momentOf("yesterday")));
});

test("moments of every year are where they belong, and other texts are nowhere", async () => {
  const { momentOf } = await rules("ask/chart/points");
  const at = (text) => { const moment = momentOf(text); return Number.isNaN(moment) ? null : new Date(moment).toISOString(); };
  assert.equal(at("-0001-12-31"), "-000001-12-31T00:00:00.000Z");
  assert.equal(at("+32768-01-01"), "+032768-01-01T00:00:00.000Z");
  assert.equal(at("+32768-01-01T12:00:00.000001+00:00"), "+032768-01-01T12:00:00.000Z");
  assert.equal(at("1880-01-01T00:00:00+00:53:28"), "1879-12-31T23:06:32.000Z");
  assert.equal(at("2026-01-01T00:00:00-05:30"), "2026-01-01T05:30:00.000Z");
  for (const text of ["1", "", "2026", "Jan 1 2026", "<b>2026-01-01</b>", "+5881580-07-11", "+999999-01-01"]) {
    assert.equal(at(text), null, text);
  }
});

test("the ends of the calendar have marks that are dates", async () => {
  const { timeScale } = await rules("ask/chart/scales");
  for (const value of [8.64e15, -8.64e15]) {
    assert.ok(timeScale([value], 8).marks.length > 0);
  }
});

test("marks of numbers are round, and bars begin at zero", async () => {
  const { numberScale, placed } = await rules("ask/chart/scales");
  const texts = (scale) => scale.marks.map((mark) => mark.text);
  assert.deepEqual(texts(numberScale([0.12, 0.48], 4)), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
  assert.deepEqual(texts(numberScale([31, 88], 4, true)), ["0", "50", "100"]);
  assert.deepEqual(texts(numberScale([-3, -1], 2, true)), ["-4", "-2", "0"]);
  assert.deepEqual(texts(numberScale([0, 2_500_000], 5)), ["0", "500 k", "1.0 M", "1.5 M", "2.0 M", "2.5 M"]);
  const scale = numberScale([5, 5], 4);
  assert.ok(scale.least < 5 && scale.most > 5);
  assert.equal(placed(5, scale, 0, 100), 50);
});

test("no numbers make a scale without an end or a mark that is no number", async () => {
  const { numberScale, placed } = await rules("ask/chart/scales");
  const extremes = [[], [0], [Number.MAX_VALUE, -Number.MAX_VALUE], [5e-324, 0], [1e308, 1.7e308], [1e15, 1e15 + 1], [-1e-320]];
  for (const values of extremes) {
    for (const fromZero of [false, true]) {
      const scale = numberScale(values, 5, fromZero);
      assert.ok(scale.marks.length <= 21, `${values}`);
      for (const value of [...values, ...scale.marks.map((mark) => mark.value)]) {
        assert.ok(Number.isFinite(placed(value, scale, 0, 320)), `${values} at ${value}`);
      }
    }
  }
});

test("marks of time are round moments", async () => {
  const { timeScale } = await rules("ask/chart/scales");
  const texts = (from, to, wanted) => timeScale([Date.parse(from), Date.parse(to)], wanted).marks.map((mark) => mark.text);
  assert.deepEqual(texts("2026-01-15", "2026-06-20", 6), ["2026-02", "2026-03", "2026-04", "2026-05", "2026-06"]);
  assert.deepEqual(texts("2026-01-01T22:00Z", "2026-01-02T02:00Z", 4), ["22:00", "23:00", "2026-01-02", "01:00", "02:00"]);
  assert.deepEqual(texts("1990-06-01", "2026-06-01", 4), ["2000", "2010", "2020"]);
  assert.deepEqual(texts("2026-01-01", "2026-01-04", 3), ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]);
  for (const [from, to] of [["0001-01-01", "9999-12-31"], ["-100000-01-01", "+100000-01-01"], ["2026-01-01", "2026-01-01"]]) {
    const found = timeScale([Date.parse(from), Date.parse(to)].filter(Number.isFinite), 5);
    assert.ok(found.marks.length <= 100 && found.marks.every((mark) => Number.isFinite(mark.value)));
  }
});

test("a chart is described in words", async () => {
  const { chosen, describe, pointsOf } = await rules("ask/chart/axes", "ask/chart/points", "ask/chart/describe");
  const columns = [WORD, COUNT];
  const choice = chosen("bar", 0, 1, columns);
  const { points } = pointsOf([["a", 3], ["b", -1], ["c", 7]], columns, choice);
  assert.equal(
    describe(points, choice),
    "Bar chart of sales by word: 3 rows from a to c. The least is -1 at b, the greatest 7 at c. The table has all values.",
  );
});

test("long values do not become long descriptions", async () => {
  const { chosen, describe, pointsOf } = await rules("ask/chart/axes", "ask/chart/points", "ask/chart/describe");
  const columns = [column("w".repeat(5000), "STRING"), COUNT];
  const choice = chosen("bar", 0, 1, columns);
  const { points } = pointsOf([["x".repeat(100_000), 3]], columns, choice);
  assert.ok(describe(points, choice).length < 1000);
});
