import type { JSX } from "preact";
import { useState } from "preact/hooks";
import REASONS from "../explain/reasons.json";
import type { Selection, Whole } from "../gateway/answers";
import { get } from "../gateway/requests";
import type { TableAnswer, TablePruning } from "../gateway/table_answers";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { count, counted, share, size } from "../words/numbers";
import { adviceOf, reasonsOf } from "./advice";

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30];
const LOOK_EVERY_MS = 60_000;
const MOST_REASONS = 6;
const SENTENCES: Readonly<Record<string, string>> = REASONS;

/** What queries of the last days read of the table, what filters did, and what would help. */
export function PruningCard({ table }: { table: TableAnswer }): JSX.Element {
  const [days, setDays] = useState(7);
  const answer = useAnswer(() => pruningOf(table.name, days), `${table.name} ${days}`, LOOK_EVERY_MS);
  const choice = (
    <label class="choice">
      <span>Over the last</span>
      <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
        {DAYS.map((each) => <option value={each}>{counted(each, "day")}</option>)}
      </select>
    </label>
  );
  return (
    <Card title="Pruning" tools={choice}>
      <Answered answer={answer}>
        {({ pruning }) => (
          <>
            {pruning === null ? <p class="none">No query has read it since then, or you do not see all of its rows.</p> : <Numbers pruning={pruning} />}
            <Advice table={table} pruning={pruning} />
          </>
        )}
      </Answered>
      {answer.value === null && <Advice table={table} pruning={null} />}
    </Card>
  );
}

async function pruningOf(name: string, days: number): Promise<{ pruning: TablePruning | null }> {
  const since = new Date(Date.now() - days * DAY_MS).toISOString();
  const answer = await get<{ tables: TablePruning[] }>(`/pruning/summary?${new URLSearchParams({ table: name, since })}`);
  return { pruning: answer.tables.find((each) => each.table === name) ?? null };
}

function Numbers({ pruning }: { pruning: TablePruning }): JSX.Element {
  const reasons = reasonsOf(pruning);
  const { applied, total } = pruning.filters;
  return (
    <>
      <p class="facts">
        <span><b>{count(pruning.queries)}</b> {pruning.queries === 1 ? "query" : "queries"}</span>
        <span>{counted(pruning.scans, "scan")}</span>
        <span>{count(applied)} of {counted(total, "possible filter")} applied</span>
      </p>
      <dl class="bars">
        <Bar name="Files" selection={pruning.dataFiles} shown={count} />
        <Bar name="Bytes" selection={pruning.bytes} shown={size} />
      </dl>
      {reasons.length > 0 && (
        <>
          <h3>Why filters were not applied</h3>
          <ul class="reasons">
            {reasons.slice(0, MOST_REASONS).map(([reason, times]) => (
              <li key={reason}><b>{count(times)} ×</b> {SENTENCES[reason] ?? reason}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Bar({ name, selection, shown }: { name: string; selection: Selection; shown: (number: Whole) => string }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <div class="track" aria-hidden="true"><div class="fill" style={{ width: `${share(selection.selected, selection.total)}%` }} /></div>
        <span>read {shown(selection.selected)} of {shown(selection.total)}</span>
      </dd>
    </>
  );
}

function Advice({ table, pruning }: { table: TableAnswer; pruning: TablePruning | null }): JSX.Element | null {
  const advice = adviceOf(table, pruning);
  if (advice.length === 0) {
    return null;
  }
  return (
    <>
      <h3>Hints</h3>
      <ul class="advice">{advice.map((each) => <li>{each}</li>)}</ul>
    </>
  );
}
