import type { JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { ProblemNote } from "../page/problem_note";
import { hashOf } from "../page/route";
import type { Choice } from "./chart/axes";
import { Progress } from "./progress";
import { Result } from "./result";
import type { Run, Running } from "./running";

interface OutcomeProps {
  run: Run;
  isRunning: boolean;
  running: Running | null;
  onTakeAll: () => void;
}

/** How a run goes on, or how it has ended: its rows, or why there are none. */
export function Outcome({ run, isRunning, running, onTakeAll }: OutcomeProps): JSX.Element {
  // Kept here, so that the next run of a changed text has its chart, too.
  const [chart, setChart] = useState<Choice | null>(null);
  const load = useCallback(() => void running?.load(), [running]);
  if (isRunning) {
    return <Progress status={run.answer?.status ?? null} startedAt={run.startedAt} />;
  }
  const manifest = run.answer?.manifest ?? null;
  return (
    <>
      {run.problem !== null && (
        <ProblemNote problem={run.problem}>
          {run.answer !== null && <a href={hashOf("explain", run.answer.queryId)}>Explain this query</a>}
        </ProblemNote>
      )}
      {manifest !== null && <Result run={run} manifest={manifest} chart={chart} onChart={setChart} onLoad={load} onTakeAll={onTakeAll} />}
      {manifest === null && run.problem === null && <p class="none" role="status">{endOf(run)}</p>}
    </>
  );
}

function endOf(run: Run): string {
  return run.answer?.status.state === "CANCELED" ? "The query was canceled." : "The query has ended without rows.";
}
