import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Progress as Numbers, Status } from "../gateway/answers";
import { count, duration, size } from "../words/numbers";

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
    <div class="progress" role="status">
      <p>
        <b>{stateOf(status)}</b> <span class="soft">{duration(Math.max(0, elapsedMs))}</span>
        {progress !== null && <span class="soft"> · {numbersOf(progress)}</span>}
      </p>
      <div class="track" role="progressbar" aria-label="Progress" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
        <div class={progress === null ? "fill unknown" : "fill"} style={{ width: progress === null ? "30%" : `${percent}%` }} />
      </div>
      {progress !== null && hasScans && <Scans progress={progress} />}
    </div>
  );
}

function Scans({ progress }: { progress: Numbers }): JSX.Element {
  return (
    <ul class="scans-so-far">
      {progress.scans.map((scan) => (
        <li>
          <span class="mono">{scan.table ?? "a table"}</span>
          <span class="soft">
            {scan.dataFiles.read !== null && scan.dataFiles.selected !== null
              ? `${count(scan.dataFiles.read)} of ${count(scan.dataFiles.selected)} files`
              : ""}
            {scan.rows === null ? "" : ` · ${count(scan.rows)} rows`}
          </span>
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

function numbersOf(progress: Numbers): string {
  const parts = [
    progress.stages === null ? "" : `${count(progress.stages.completed)} of ${count(progress.stages.total)} stages`,
    progress.tasks === null ? "" : `${count(progress.tasks.completed)} of ${count(progress.tasks.total)} tasks`,
    progress.rows === null ? "" : `${count(progress.rows)} rows`,
    progress.bytes === null ? "" : size(progress.bytes),
  ];
  return parts.filter((part) => part !== "").join(" · ");
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
