// Tests how parts of a page keep themselves up to date, and how they follow a query of their own: `npm test`.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { rules } from "../testing/bundled.mjs";

const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    await Promise.resolve();
  }
};

/** What of a document tells whether somebody can see it. */
class Page extends EventTarget {
  hidden = false;

  show(isShown) {
    this.hidden = !isShown;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

beforeEach(() => {
  globalThis.document = new Page();
  mock.timers.enable({ apis: ["setTimeout"] });
});

afterEach(() => {
  mock.timers.reset();
  delete globalThis.document;
});

const json = (body, status = 200) => new Response(JSON.stringify(body), { status });
const problem = (status, code) => json({ status, code, detail: code }, status);

async function until(isSo) {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function looking(ask) {
  const { Looking } = await rules("gateway/looking");
  const found = [];
  const looks = new Looking(ask, 1_000, (value) => found.push(value), (problem) => found.push(problem.code));
  return { looks, found };
}

test("a part asks again while it is seen, and one question at a time", async () => {
  let answers = [];
  const { looks, found } = await looking(() => new Promise((resolve) => answers.push(resolve)));
  looks.start();
  document.show(true);
  document.show(true);
  mock.timers.tick(60_000);
  assert.equal(answers.length, 1);
  answers[0]("a");
  await settled();
  mock.timers.tick(1_000);
  assert.deepEqual([answers.length, found], [2, ["a"]]);
  looks.stop();
  answers[1]("b");
  await settled();
  mock.timers.tick(60_000);
  document.show(true);
  assert.deepEqual([answers.length, found], [2, ["a"]]);
});

test("a part that nobody sees asks nothing, and asks as soon as it is seen", async () => {
  let asked = 0;
  const { looks } = await looking(async () => (asked += 1));
  looks.start();
  await settled();
  document.show(false);
  mock.timers.tick(60_000);
  assert.equal(asked, 1);
  document.show(true);
  assert.equal(asked, 2);
  looks.stop();
});

test("a part that was refused does not ask again, also when it is seen again", async () => {
  let asked = 0;
  globalThis.fetch = async () => problem(403, "ADMIN_REQUIRED");
  const { Looking, get } = await rules("gateway/looking", "gateway/requests");
  const codes = [];
  const looks = new Looking(() => {
    asked += 1;
    return get("/keys");
  }, 1_000, () => undefined, (problem) => codes.push(problem.code));
  looks.start();
  await until(() => codes.length > 0);
  document.show(false);
  document.show(true);
  mock.timers.tick(60_000);
  assert.deepEqual([asked, codes], [1, ["ADMIN_REQUIRED"]]);
  looks.stop();
});

const running = { queryId: "q1", status: { state: "RUNNING", error: null, queue: null }, result: null };
const asker = () => ({ isLeft: false, onStatus: () => undefined });

test("a query of the page is canceled if its state cannot be asked for", async () => {
  const { rowsOf } = await rules("tables/look_up");
  const sent = [];
  globalThis.fetch = async (path, { method }) => {
    sent.push(`${method} ${path.split("?")[0]}`);
    return method === "POST" ? json(running) : method === "DELETE" ? json({}) : problem(503, "METRICS_STORE_DOWN");
  };
  await assert.rejects(rowsOf("SELECT 1", asker()), /METRICS_STORE_DOWN/);
  assert.deepEqual(sent, ["POST /query", "GET /query/q1", "DELETE /query/q1"]);
});

test("a query that failed is not canceled, and one that nobody waits for is", async () => {
  const { rowsOf } = await rules("tables/look_up");
  const failed = { ...running, status: { state: "FAILED", error: { code: "TABLE_ACCESS_DENIED", detail: "denied" }, queue: null } };
  const sent = [];
  globalThis.fetch = async (path, { method }) => {
    sent.push(`${method} ${path.split("?")[0]}`);
    return json(method === "POST" ? running : failed);
  };
  await assert.rejects(rowsOf("SELECT 1", asker()), /denied/);
  assert.deepEqual(sent, ["POST /query", "GET /query/q1"]);
  sent.length = 0;
  assert.equal(await rowsOf("SELECT 1", { ...asker(), isLeft: true }), null);
  assert.deepEqual(sent, ["POST /query", "DELETE /query/q1"]);
});
