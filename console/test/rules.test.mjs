// Tests what needs no browser: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../testing/bundled.mjs";

test("JSON keeps all digits of whole numbers, and no text becomes a number", async () => {
  const { exactJson, exactText } = await rules("gateway/exact_json");
  const text = '{"a":9223372036854775807,"b":["-9223372036854775808",-9223372036854775808],"c":"\\"12345678901234567890"}';
  assert.deepEqual(exactJson(text), {
    a: 9223372036854775807n,
    b: ["-9223372036854775808", -9223372036854775808n],
    c: '"12345678901234567890',
  });
  assert.equal(exactText(exactJson(text)), text);
  // A petabyte is a number still: the page calculates with sizes.
  assert.deepEqual(exactJson("[1000000000000000,9007199254740991,9007199254740993]"), [1e15, 2 ** 53 - 1, 9007199254740993n]);
  assert.deepEqual(exactJson("[0.1234567890123456789,1e300,12]"), [0.12345678901234568, 1e300, 12]);
});

test("parameters are found outside of texts, names, casts and comments", async () => {
  const { parametersIn, typedFor, valueOf } = await rules("ask/parameters");
  assert.deepEqual(parametersIn("select :a, ':b', x::int, `:c` -- :d\n, :e /* :f */, :a"), ["a", "e"]);
  // A comment that has no end takes the rest, at once: its many beginnings are not tried one by one.
  assert.deepEqual(parametersIn(`select :a ${"/* :b ".repeat(200_000)}`), ["a"]);
  const values = ["12", "-1.50", "'2000'", "TRUE", "null", "x", "007", ""].map(valueOf);
  assert.deepEqual(values, [12, { value: "-1.50", type: "DECIMAL(3,2)" }, "2000", true, null, "x", "007", ""]);
  assert.deepEqual(["constructor", "__proto__"].map(valueOf), ["constructor", "__proto__"]);
  assert.deepEqual(["constructor", "a", "b"].map((name) => typedFor({ a: "1" }, name)), ["", "1", ""]);
});

test("tables that a text names are found with their aliases", async () => {
  const { mentionsIn, partsOf, quoted } = await rules("ask/completion");
  assert.deepEqual(mentionsIn("select * from lake.shop.sales s join `a b`.c on x left join d where y"), [
    { path: ["lake", "shop", "sales"], alias: "s" },
    { path: ["a b", "c"], alias: null },
    { path: ["d"], alias: null },
  ]);
  assert.deepEqual(partsOf("lake.`a b`."), ["lake", "a b"]);
  assert.deepEqual(["plain", "a b", "a`b"].map(quoted), ["plain", "`a b`", "`a``b`"]);
});

test("a plan's text becomes a tree, and other texts do not", async () => {
  const { placed, planTree, walk } = await rules("explain/plan_tree");
  const tree = planTree("A(x=[1])\n:- B(table=[[l, s, t]], f=[a[1]])\n:  +- C()\n+- D(where=[x = 2])(reuse_id=[1])");
  assert.deepEqual(walk(placed(tree)).map(({ node, row, column }) => [node.operator, row, column]), [
    ["A", 0, 0.5], ["B", 1, 0], ["C", 2, 0], ["D", 1, 1],
  ]);
  assert.equal(tree.children[0].attributes.get("f"), "a[1]");
  assert.equal(planTree("(none: the text is not one query)"), null);
});

test("rows are sorted by value, with NULL last, and exactly", async () => {
  const { sorted, tabbed } = await rules("ask/cells");
  const column = (type) => ({ name: "a", type, nullable: true });
  const up = { column: 0, isDescending: false };
  const longs = [[9223372036854775807n], [null], [9223372036854775806n], [-1]];
  assert.deepEqual(sorted(longs, column("BIGINT"), up).map(String), ["-1", "9223372036854775806", "9223372036854775807", ""]);
  const decimals = [["-1.5"], ["-10.25"], ["3"], ["20"]];
  assert.deepEqual(sorted(decimals, column("DECIMAL(5,2)"), { ...up, isDescending: true }).flat(), ["20", "3", "-1.5", "-10.25"]);
  assert.equal(tabbed([column("STRING")], [["a\tb"], [null], ['"']]), 'a\n"a\tb"\n\n""""');
});

test("functions are those that a query may call, each once, and none is a word of SQL", async () => {
  const { FUNCTION_NAMES } = await rules("ask/function_names");
  const names = FUNCTION_NAMES.map(({ name }) => name);
  assert.ok(names.length > 400 && new Set(names).size === names.length);
  assert.ok(["percentile_approx", "date_trunc", "explode"].every((name) => names.includes(name)));
  assert.ok(!names.includes("between") && !names.includes("reflect"));
  assert.ok(FUNCTION_NAMES.every(({ says }) => says.endsWith(".")));
});

test("no change is saved over that nobody has seen, and no answer opens another query", async () => {
  const { afterSaving, afterSharing } = await rules("ask/opened");
  const query = (savedQueryId, version) => ({ savedQueryId, version });
  assert.equal(afterSharing(query("a", 1), query("a", 2)).version, 2);
  assert.equal(afterSharing(query("a", 1), query("a", 3)).version, 1);
  assert.equal(afterSharing(query("b", 1), query("a", 2)).savedQueryId, "b");
  assert.equal(afterSharing(null, query("a", 2)), null);
  assert.equal(afterSaving(query("a", 1), query("a", 1), query("a", 2)).version, 2);
  assert.equal(afterSaving(query("a", 1), query("a", 1), query("c", 1)).savedQueryId, "c");
  assert.equal(afterSaving(null, null, query("a", 1)).savedQueryId, "a");
  assert.equal(afterSaving(query("b", 1), query("a", 1), query("a", 2)).savedQueryId, "b");
  assert.equal(afterSaving(query("b", 1), null, query("a", 1)).savedQueryId, "b");
});

test("after a login at an issuer, only a room of the console is opened", async () => {
  const { placeOf, isPage } = await rules("page/returning");
  assert.deepEqual(["#/tables/lake", "#/ask?sql=SELECT+1"].map(placeOf), ["#/tables/lake", "#/ask?sql=SELECT+1"]);
  const others = [null, "", "#/back", "https://evil.example", "//evil.example", "javascript:alert(1)"];
  assert.deepEqual(others.map(placeOf), others.map(() => "#/ask"));
  const addresses = ["https://login.example/authorize?a=b", "http://127.0.0.1:1/", "javascript:alert(1)", "/console", ""];
  assert.deepEqual(addresses.map(isPage), [true, true, false, false, false]);
});

test("progress has a bar for the stages, and one for each scan as far as it is known", async () => {
  const { barsOf, numbersOf } = await rules("ask/progress_words");
  const scans = [
    { table: "lake.a.t", rows: 1_000, dataFiles: { read: 3, selected: 12 } },
    { table: null, rows: null, dataFiles: { read: null, selected: 5 } },
  ];
  assert.deepEqual(barsOf({ stages: { completed: 1, total: 4 }, scans }), [
    { name: "Stages", isTable: false, part: 25, words: "1 of 4 stages" },
    { name: "lake.a.t", isTable: true, part: 25, words: "3 of 12 files · 1,000 rows" },
    { name: "a table", isTable: false, part: null, words: "" },
  ]);
  // Policies may hide all of it.
  assert.deepEqual(barsOf({ stages: null, scans: [] }), []);
  assert.deepEqual(barsOf({ stages: { completed: 0, total: 0 }, scans: [] }), []);
  assert.equal(numbersOf({ tasks: { completed: 1, running: 0, total: 1 }, rows: 1, bytes: 2_000 }), "1 of 1 task · 1 row · 2.0 kB");
  assert.equal(numbersOf({ tasks: null, rows: null, bytes: null }), "");
});
