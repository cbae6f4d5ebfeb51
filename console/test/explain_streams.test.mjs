// Tests how the room Explain opens and ends streams of events: `npm test`.
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { rules } from "../testing/bundled.mjs";

class Page extends EventTarget {
  hidden = false;

  show(isShown) {
    this.hidden = !isShown;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

beforeEach(() => {
  globalThis.document = new Page();
});

afterEach(() => {
  mock.timers.reset();
  delete globalThis.document;
  delete globalThis.fetch;
});

/** A gateway whose answer goes on until it is ended, as a real one's does. */
function streaming(first) {
  const asked = [];
  globalThis.fetch = async (path, { headers, signal }) => {
    asked.push({ path, accept: headers.Accept, signal });
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(first));
        signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    return new Response(body, { status: 200, headers: { "Content-Type": "text/event-stream" } });
  };
  return asked;
}

async function until(isSo) {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a stream is read until the page is hidden, and opened again when it is seen", async () => {
  const { sourceOf } = await rules("explain/use_live");
  const asked = streaming('event: state\ndata: {"a":1}\n\n');
  const source = sourceOf("1/2");
  const heard = [];
  const left = new AbortController();
  const stream = source.events((event) => heard.push(event.name), left.signal);
  await until(() => heard.length === 1);
  assert.deepEqual([asked[0].path, asked[0].accept], ["/query/1%2F2/events", "text/event-stream"]);
  document.show(false);
  await stream;
  assert.equal(asked[0].signal.aborted, true);
  let isShown = false;
  const shown = source.shown(left.signal).then(() => { isShown = true; });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isShown, false);
  document.show(true);
  await shown;
  await source.shown(left.signal);
});

test("a page that is left ends its stream, and waits for nothing", async () => {
  const { sourceOf } = await rules("explain/use_live");
  const asked = streaming("");
  const source = sourceOf("1");
  const left = new AbortController();
  const stream = source.events(() => assert.fail("nothing was sent"), left.signal);
  await until(() => asked.length === 1);
  const pause = source.pause(1_000_000, left.signal);
  document.show(false);
  document.hidden = true;
  const shown = source.shown(left.signal);
  left.abort();
  await Promise.all([stream, pause, shown]);
  assert.equal(asked[0].signal.aborted, true);
});

test("a stream that is silent for a minute is over, and one that says something is not", async () => {
  const { followStream } = await rules("gateway/event_stream");
  mock.timers.enable({ apis: ["setTimeout"] });
  let controller;
  globalThis.fetch = async (_, { signal }) => {
    const body = new ReadableStream({
      start(own) {
        controller = own;
        signal.addEventListener("abort", () => own.error(signal.reason));
      },
    });
    return new Response(body, { status: 200 });
  };
  const heard = [];
  const stream = followStream("/query/1/events", (event) => heard.push(event.data), new AbortController().signal);
  await until(() => controller !== undefined);
  mock.timers.tick(50_000);
  controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
  await until(() => heard.length === 1);
  mock.timers.tick(50_000);
  assert.deepEqual(heard, ["1"]);
  mock.timers.tick(10_000);
  await assert.rejects(stream, (error) => error.problem.code === "NO_EVENT_IN_TIME");
});

test("a refused stream says why", async () => {
  const { followStream } = await rules("gateway/event_stream");
  const refusal = { status: 429, code: "TOO_MANY_EVENT_STREAMS", detail: "later" };
  globalThis.fetch = async () => new Response(JSON.stringify(refusal), { status: 429 });
  await assert.rejects(followStream("/query/1/events", () => undefined, new AbortController().signal), (error) => error.problem.code === refusal.code && error.problem.status === 429);
});
