import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Progress as Numbers, Status } from "../gateway/answers";
import { duration } from "../words/numbers";
import { barsOf, numbersOf } from "./progress_words";

interface Props {
  status: Status | null;
  startedAt?: number;
  /** Whether what each scan has read is shown here. */
  hasScans?: boolean;
}

/** How far a query is: the state, the stages, and what each scan has read. */
export function Progress({ status, startedAt, hasScans = true }: Props): JSX.Element {
  const now = useNow(startedAt !== undefined);
  const elapsedMs = startedAt === undefined ? (status?.elapsedMs ?? 0) : now - startedAt;
  const progress = status?.progress ?? null;
  const percent = progress?.percent ?? 0;
  return (
    <div class="progress">
      <p>
        {/* The state alone: who hears the page would hear nothing else than the time. */}
        <b role="status">{stateOf(status)}</b> <span class="soft">{duration(Math.max(0, elapsedMs))}</span>
        {progress !== null && <span class="soft"> · {numbersOf(progress)}</span>}
      </p>
      <div class="track" role="progressbar" aria-label="Progress" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
        <div class={progress === null ? "fill unknown" : "fill"} style={{ width: progress === null ? "30%" : `${percent}%` }} />
      </div>
      {progress !== null && <Bars progress={hasScans ? progress : { ...progress, scans: [] }} />}
    </div>
  );
}

/** A bar for the stages of the plan, and one for the files of each scan. */
function Bars({ progress }: { progress: Numbers }): JSX.Element | null {
  const bars = barsOf(progress);
  return bars.length === 0 ? null : (
    <ul class="progress-bars">
      {bars.map(({ name, isTable, part, words }) => (
        <li>
          <span class={isTable ? "mono" : undefined}>{name}</span>
          <span class="track" aria-hidden="true"><span class="fill" style={{ width: `${part ?? 0}%` }} /></span>
          <span class="soft">{words}</span>
        </li>
      ))}
    </ul>
  );
}

function stateOf(status: Status | null): string {
  if (status === null) {
    return "Sending";
  }
  if (status.queue !== null) {
    return status.queue.position === 0 ? "Planning" : `Waiting, number ${status.queue.position} in ${status.queue.group}`;
  }
  return { QUEUED: "Waiting", RUNNING: "Running", SUCCEEDED: "Done", FAILED: "Failed", CANCELED: "Canceled" }[status.state];
}

function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isTicking) {
      return undefined;
    }
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
