/** Follows a query while it runs and somebody can see the page. */

import { useEffect, useState } from "preact/hooks";
import type { QueryAnswer, State } from "../gateway/answers";
import { followStream } from "../gateway/event_stream";
import { get } from "../gateway/requests";
import { Following, type Live, type Source } from "./following";

/** Returns what is known so far. null: the query has ended, or there is none. */
export function useLive(id: string | null, state: State, onLive: (live: Live) => void): Live | null {
  const [live, setLive] = useState<Live | null>(null);
  useEffect(() => {
    setLive(null);
    if (id === null) {
      return undefined;
    }
    const following = new Following(sourceOf(id), state, (next) => {
      setLive(next);
      onLive(next);
    });
    void following.run();
    return () => following.leave();
  }, [id]);
  return live;
}

export function sourceOf(id: string): Source {
  const path = `/query/${encodeURIComponent(id)}`;
  return {
    events: (onEvent, signal) => whileShown(signal, (own) => followStream(`${path}/events`, onEvent, own)),
    // In this format, an answer has no rows.
    status: async () => (await get<QueryAnswer>(`${path}?format=ARROW_STREAM`)).status,
    shown: (signal) => heard(document, "visibilitychange", () => !document.hidden, signal),
    pause: (ms, signal) => paused(ms, signal),
    now: () => Date.now(),
  };
}

/** Ends what goes on when the page is hidden: a stream that nobody looks at takes a place at the gateway. */
async function whileShown(signal: AbortSignal, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const own = new AbortController();
  const end = (): void => own.abort();
  signal.addEventListener("abort", end, { once: true, signal: own.signal });
  document.addEventListener("visibilitychange", end, { once: true, signal: own.signal });
  try {
    await act(own.signal);
  } finally {
    own.abort();
  }
}

function heard(target: EventTarget, name: string, isSo: () => boolean, signal: AbortSignal): Promise<void> {
  if (isSo() || signal.aborted) {
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    const done = new AbortController();
    const look = (): void => {
      if (isSo() || signal.aborted) {
        done.abort();
        resolve();
      }
    };
    target.addEventListener(name, look, { signal: done.signal });
    signal.addEventListener("abort", look, { signal: done.signal });
  });
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener("abort", end);
  });
}
