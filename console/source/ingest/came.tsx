import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { IngestSummary, Ingests, ListedIngest } from "../gateway/ingest_answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { hashOf } from "../page/route";
import { clock, count, counted, duration, size } from "../words/numbers";
import { schemaWords, useColumnNames } from "./column_names";
import { stateClass } from "./ingest_words";
import { OverTime } from "./over_time";

const LOOK_EVERY_MS = 10_000;
const MOST_LISTED = 200;
const SPANS = [
  { hours: 1, title: "the last hour" },
  { hours: 24, title: "the last 24 hours" },
  { hours: 7 * 24, title: "the last 7 days" },
  { hours: 30 * 24, title: "the last 30 days" },
];
const STATES = ["", "ACCEPTED", "COMMITTED", "FAILED"];
const HOUR_MS = 3_600_000;

/** What came: sums of all callers by table, and the caller's own ingests by table and write schema. */
export function Came(): JSX.Element {
  return (
    <>
      <OwnCards />
      <SumsCard />
    </>
  );
}

function OwnCards(): JSX.Element {
  const [state, setState] = useState("");
  const [tokens, setTokens] = useState<readonly string[]>([]);
  const token = tokens[tokens.length - 1] ?? "";
  const asked = new URLSearchParams({ limit: String(MOST_LISTED), ...(state !== "" && { state }), ...(token !== "" && { pageToken: token }) });
  // An older page does not change any more.
  const answer = useAnswer(() => get<Ingests>(`/ingest?${asked}`), asked.toString(), token === "" ? LOOK_EVERY_MS : null);
  const choose = (chosen: string): void => {
    setTokens([]);
    setState(chosen);
  };
  return (
    <>
      <Card
        title="Your ingests over time"
        tools={(
          <label class="choice">
            <span>State</span>
            <select value={state} onChange={(event) => choose(event.currentTarget.value)}>
              {STATES.map((each) => <option value={each}>{each === "" ? "all" : each.toLowerCase()}</option>)}
            </select>
          </label>
        )}
      >
        <Answered answer={answer}>
          {(found) => (
            <>
              <Own ingests={found.ingests} />
              <p class="pages">
                {tokens.length > 0 && <button type="button" onClick={() => setTokens(tokens.slice(0, -1))}>Newer</button>}
                {found.nextPageToken !== null && <button type="button" onClick={() => setTokens([...tokens, found.nextPageToken ?? ""])}>Older</button>}
              </p>
            </>
          )}
        </Answered>
      </Card>
    </>
  );
}

function Own({ ingests }: { ingests: readonly ListedIngest[] }): JSX.Element {
  const names = useColumnNames(useMemo(() => ingests.flatMap((ingest) => ingest.tables), [ingests]));
  const rows = ingests.map((ingest) => ({
    key: ingest.ingestId,
    cells: [
      <a href={hashOf("ingest", ingest.ingestId)}>{clock(ingest.acceptedAt)}</a>,
      <span class={`state ${stateClass(ingest.state)}`}>{ingest.state.toLowerCase()}</span>,
      <ul>{ingest.writes.map((write) => <li><span class="mono">{write.table}</span> <span class="soft">{schemaWords(write.table, write.writeSchemaColumnIds, names)}</span></li>)}</ul>,
      count(ingest.records),
      ingest.rejectedRecords > 0 ? <span class="warn">{count(ingest.rejectedRecords)}</span> : "0",
      duration(ingest.writeMs),
    ],
  }));
  const heads = ["Accepted", "State", "Tables and write schemas", { name: "Records", isNumber: true }, { name: "Rejected", isNumber: true }, { name: "Written in", isNumber: true }];
  return (
    <>
      {ingests.length > 0 && <OverTime ingests={ingests} names={names} />}
      <Lines label="Your ingests" heads={heads} rows={rows} none="There are no such ingests of yours in the log. Drop a file under “New from a file” to make one." />
    </>
  );
}

function SumsCard(): JSX.Element {
  const [hours, setHours] = useState(24);
  // From a whole minute on, so that the same question stays the same.
  const ask = (): Promise<IngestSummary> => get<IngestSummary>(`/ingest/summary?${new URLSearchParams({ since: new Date(Math.floor((Date.now() - hours * HOUR_MS) / 60_000) * 60_000).toISOString() })}`);
  const answer = useAnswer(ask, String(hours), LOOK_EVERY_MS);
  return (
    <Card
      title="Tables, by all callers"
      tools={(
        <label class="choice">
          <span>In</span>
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {SPANS.map((span) => <option value={span.hours}>{span.title}</option>)}
          </select>
        </label>
      )}
    >
      <Answered answer={answer}>{(found) => <Sums summary={found} />}</Answered>
    </Card>
  );
}

function Sums({ summary }: { summary: IngestSummary }): JSX.Element {
  const rows = summary.tables.map((table) => ({
    key: table.table,
    cells: [
      <a class="mono" href={hashOf("tables", "", { table: table.table })}>{table.table}</a>,
      count(table.ingests),
      table.waiting > 0 ? <span class="warn">{count(table.waiting)}</span> : "0",
      failures(table.failedByCode),
      count(table.records),
      count(table.rejectedRecords),
      `${counted(table.dataFiles, "file")}, ${size(table.bytes)}`,
      `${count(table.rounds.total)} of ${table.rounds.ingestsPerRound} ingests`,
      `${duration(table.writeMs.p50)}, ${duration(table.writeMs.p95)}`,
      `${duration(table.rounds.commitMs.p50)}, ${duration(table.rounds.commitMs.p95)}`,
    ],
  }));
  const heads = [
    "Table",
    ...["Ingests", "Wait"].map((name) => ({ name, isNumber: true })),
    "Failed",
    ...["Records", "Rejected", "Written", "Rounds", "Write: half, 95 %", "Commit: half, 95 %"].map((name) => ({ name, isNumber: true })),
  ];
  return <Lines label="Tables, by all callers" heads={heads} rows={rows} none="Nothing came into a table that you may know of." />;
}

function failures(byCode: Record<string, number>): JSX.Element | string {
  const all = Object.entries(byCode);
  return all.length === 0 ? "none" : <span class="error">{all.map(([code, number]) => `${code} ${count(number)}`).join(", ")}</span>;
}
