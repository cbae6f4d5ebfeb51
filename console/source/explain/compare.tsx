import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ParameterFields } from "../ask/parameter_fields";
import { parametersIn, typedFor, valueOf } from "../ask/parameters";
import { Progress } from "../ask/progress";
import { type Explanation, type Problem, isFinal } from "../gateway/answers";
import { newId } from "../gateway/new_id";
import { problemIn } from "../gateway/requests";
import { Answered } from "../page/answered";
import { ProblemNote } from "../page/problem_note";
import { hashOf } from "../page/route";
import { count, size } from "../words/numbers";
import { type Question, cancelRun, planAsWritten, runAsWritten } from "./as_written";
import { sum } from "./compare_scans";
import { Comparison } from "./comparison";
import { statusOf, useExplained } from "./use_explained";

interface Props {
  id: string;
  explanation: Explanation;
  /** The run of the text as written, if there is one. */
  withId: string | null;
  onRun: (withId: string | null) => void;
}

/** The query that ran, beside its text as written. That is planned, and run, only by a click. */
export function Compare({ id, explanation, withId, onRun }: Props): JSX.Element {
  if (withId !== null) {
    return <Run key={withId} id={withId} pruned={explanation} onAgain={() => onRun(null)} />;
  }
  if (explanation.reused !== null) {
    return <p class="none">The answer is that of <a href={hashOf("explain", explanation.reused.from)}>an earlier query</a>. Compare that one: this one has read nothing.</p>;
  }
  if (explanation.rewrittenSql === null) {
    const isRun = explanation.state === "SUCCEEDED";
    return <p class="none">{isRun ? "The query ran as written." : "The gateway has not changed the text, so there is nothing to compare."}</p>;
  }
  return <Plan id={id} explanation={explanation} onRun={onRun} />;
}

interface Planned {
  question: Question;
  requestId: string;
  written: Explanation;
}

function Plan({ id, explanation, onRun }: Omit<Props, "withId">): JSX.Element {
  const names = parametersIn(explanation.sql);
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [planned, setPlanned] = useState<Planned | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const act = async (asked: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await asked();
    } catch (error) {
      setProblem(problemIn(error));
    }
    setBusy(false);
  };
  const plan = (): Promise<void> => act(async () => {
    const { sql, catalog, schema } = explanation;
    const parameters = Object.fromEntries(names.map((name) => [name, valueOf(typedFor(typed, name))]));
    const question = { sql, catalog, schema, parameters };
    setPlanned({ question, requestId: newId(), written: await planAsWritten(question) });
  });
  // The very text and values that were planned: the gateway has said that they write nothing.
  const run = ({ question, requestId }: Planned): Promise<void> => act(async () => onRun(await runAsWritten(question, id, requestId)));
  const change = (next: Record<string, string>): void => {
    setTyped(next);
    setPlanned(null);
  };
  return (
    <>
      {names.length > 0 && <ParameterFields names={names} typed={typed} onChange={change} />}
      {problem !== null && <ProblemNote problem={problem} />}
      <p class="look">
        {planned === null ? (
          <>
            <button type="button" disabled={isBusy} onClick={() => void plan()}>{isBusy ? "Planning …" : "Plan as written"}</button>
            <span class="note">Says what Spark alone would read. No data are read.{names.length > 0 && " The gateway keeps no values of parameters: enter them again."}</span>
          </>
        ) : (
          <>
            <button type="button" disabled={isBusy} onClick={(event) => event.detail < 2 && void run(planned)} onKeyDown={withoutRepeats}>{isBusy ? "Sending …" : "Run as written"}</button>
            <span class="note" role="status">{costOf(planned.written)}</span>
          </>
        )}
      </p>
      {planned !== null && <Comparison written={planned.written} pruned={explanation} />}
    </>
  );
}

// The second half of a double click, or a key that is held down, is no answer to a line that nobody can have read.
function withoutRepeats(event: KeyboardEvent): void {
  if (event.repeat) {
    event.preventDefault();
  }
}

function costOf({ scans }: Explanation): string {
  const files = sum(scans.map((scan) => scan.dataFiles.selected));
  const bytes = sum(scans.map((scan) => scan.bytes.selected));
  return `Reads up to ${size(bytes)} in ${count(files)} files, as a query of yours.`;
}

interface RunProps {
  id: string;
  pruned: Explanation;
  onAgain: () => void;
}

/** The text as written while it runs, and then beside the query. */
function Run({ id, pruned, onAgain }: RunProps): JSX.Element {
  const { answer, live } = useExplained(id);
  const [problem, setProblem] = useState<Problem | null>(null);
  const cancel = (): void => {
    cancelRun(id).then(() => setProblem(null), (error: unknown) => setProblem(problemIn(error)));
  };
  return (
    <>
      <Answered answer={answer}>
        {(written) => (
          <>
            <p class="note">As written: <a href={hashOf("explain", id)}>{id}</a></p>
            {problem !== null && <ProblemNote problem={problem} />}
            {!isFinal(written.state) && (
              <>
                <Progress {...statusOf(written, live)} />
                <p class="look"><button type="button" onClick={cancel}>Cancel the run as written</button></p>
              </>
            )}
            {isFinal(written.state) && written.state !== "SUCCEEDED" && (
              <p class="warn">It has not succeeded: <code>{written.error?.code ?? written.state}</code> {written.error?.detail} It may have read less than all.</p>
            )}
            {isFinal(written.state) && <Comparison written={written} pruned={pruned} />}
          </>
        )}
      </Answered>
      <p class="look"><button type="button" onClick={onAgain}>Compare again</button></p>
    </>
  );
}
