/** An explanation, live until its query ends; then the last one loads by itself. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Explanation, type State, type Status, isFinal } from "../gateway/answers";
import { mayRecover, pauseMs } from "../gateway/next_look";
import { get } from "../gateway/requests";
import { type Answer, useAnswer } from "../gateway/use_answer";
import type { Live } from "./following";
import { useLive } from "./use_live";

const LOOK_EVERY_MS = 1_000;

export interface Explained {
  answer: Answer<Explanation>;
  /** How far the query is. null: it has ended, or nothing is known yet. */
  live: Live | null;
}

export function useExplained(id: string): Explained {
  const answer = useAnswer(() => get<Explanation>(`/explain/${encodeURIComponent(id)}`), id);
  const { value, problem, again } = answer;
  const isRunning = value !== null && !isFinal(value.state);
  const [hasEnded, setEnded] = useState(false);
  const phase = useRef("");
  const live = useLive(isRunning ? id : null, isRunning ? (value.state as State) : "QUEUED", ({ status }) => {
    const next = status.progress?.phase;
    if (isFinal(status.state)) {
      setEnded(true);
    } else if (next !== undefined && next !== phase.current) {
      // Filters and plan are known as soon as it runs.
      phase.current = next;
      again();
    }
  });
  useEffect(() => {
    phase.current = value?.progress?.phase ?? phase.current;
  }, [value]);
  const looks = useRef(0);
  // The record follows the end of a query, from another replica a moment later.
  const isDue = problem === null ? hasEnded && isRunning : mayRecover(problem.status);
  useEffect(() => {
    if (!isDue) {
      looks.current = 0;
      return undefined;
    }
    const isFirst = looks.current === 0 && problem === null;
    const timer = setTimeout(again, isFirst ? 0 : pauseMs(LOOK_EVERY_MS, looks.current));
    looks.current += 1;
    return () => clearTimeout(timer);
  }, [isDue, value, problem]);
  return { answer, live: isRunning ? live : null };
}

/** Returns how far the query is, as `Progress` shows it. */
export function statusOf(explanation: Explanation, live: Live | null): { status: Status; startedAt?: number } {
  if (live === null) {
    const elapsedMs = Object.values(explanation.timings).reduce((sum, ms) => sum + ms, 0);
    const { progress } = explanation;
    return { status: { state: explanation.state as State, queue: null, error: null, queuedMs: 0, elapsedMs, progress } };
  }
  const { status, at } = live;
  return isFinal(status.state) ? { status } : { status, startedAt: at - status.elapsedMs };
}
