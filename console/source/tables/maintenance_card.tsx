import type { JSX, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import { post, problemIn } from "../gateway/requests";
import type { Maintenance, Maintenances } from "../gateway/table_answers";
import type { Answer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { ProblemNote } from "../page/problem_note";
import { SureButton } from "../page/sure_button";
import { clock, count, counted, duration } from "../words/numbers";
import { OPERATIONS, asksFirst, mayRequest, scheduleWords } from "./maintenance_words";

interface Props {
  address: string;
  answer: Answer<Maintenances>;
}

/** Maintenance: what the gateway does by itself, what ran, and a form to ask for more. */
export function MaintenanceCard({ address, answer }: Props): JSX.Element {
  return (
    <Card title="Maintenance">
      <Answered answer={answer}>
        {(found) => (
          <>
            <p>{scheduleWords(found.schedule)}</p>
            <p class="note">
              Younger snapshots than {counted(found.floors.snapshotsOlderThanHours, "hour")}, the newest {count(found.floors.retainLast)}, and
              orphans younger than {counted(found.floors.orphansOlderThanHours, "hour")} always stay.
            </p>
            <Past all={found.maintenances} />
            {mayRequest(found)
              ? <Form address={address} onSent={answer.again} />
              : <p class="note">You may not ask for maintenance of this table. A policy or the operator decides that.</p>}
          </>
        )}
      </Answered>
    </Card>
  );
}

function Past({ all }: { all: readonly Maintenance[] }): JSX.Element {
  const rows = all.map((each) => ({
    key: each.maintenanceId,
    cells: [
      clock(each.requestedAt),
      <span class={`state ${stateOf(each)}`}>{each.state.toLowerCase()}</span>,
      each.operations.join(", "),
      each.branch,
      each.requestedBy,
      each.error === null ? resultWords(each) : <span class="error">{each.error.code}: {each.error.detail}</span>,
    ],
  }));
  return <Lines label="Maintenance so far" heads={["Asked at", "State", "Operations", "Branch", "By", "Result"]} rows={rows} none="There was none yet." />;
}

function stateOf(each: Maintenance): string {
  return each.endedAt === null ? "RUNNING" : each.error === null ? "SUCCEEDED" : "FAILED";
}

function resultWords(each: Maintenance): string {
  return each.results
    .map(({ operation, counts, tookMs }) => {
      const numbers = Object.entries(counts).filter(([, number]) => number > 0).map(([name, number]) => `${name} ${count(number)}`);
      return `${operation} in ${duration(tookMs)}${numbers.length > 0 ? `: ${numbers.join(", ")}` : ""}`;
    })
    .join("; ");
}

function Form({ address, onSent }: { address: string; onSent: () => void }): JSX.Element {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>(["compact"]);
  const operations = Object.keys(OPERATIONS).filter((name) => chosen.includes(name));
  const send = (): Promise<unknown> => post(address, { operations });
  const isFinal = asksFirst(operations);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (isFinal) {
      return;
    }
    setBusy(true);
    send().then(
      () => {
        setBusy(false);
        setProblem(null);
        onSent();
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(problemIn(error));
      },
    );
  };
  const toggle = (name: string): void => setChosen(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  return (
    <form class="sub maintain" onSubmit={submit}>
      <fieldset>
        <legend>Run now</legend>
        {Object.entries(OPERATIONS).map(([name, words]) => (
          <label><input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} /> <span class="mono">{name}</span> <span class="soft">{words}</span></label>
        ))}
      </fieldset>
      {isFinal ? (
        // With other operations, a yes to the last ones is none.
        <SureButton key={operations.join(" ")} name="Run" what={operations.join(", ")} act={send} onDone={onSent} />
      ) : (
        <button type="submit" disabled={isBusy || chosen.length === 0}>{isBusy ? "Sending …" : "Run"}</button>
      )}
      {problem !== null && <ProblemNote problem={problem} />}
    </form>
  );
}
