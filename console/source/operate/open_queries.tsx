import type { JSX } from "preact";
import type { ListedQuery, Login } from "../gateway/answers";
import { get, remove } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { hashOf } from "../page/route";
import { SureButton } from "../page/sure_button";
import { atLeast, clock, counted, duration } from "../words/numbers";

const LOOK_EVERY_MS = 2_000;
const MOST_LISTED = 200;
const MOST_ENDED = 30;
const SHOWN_LETTERS = 300;

interface Open {
  running: ListedQuery[];
  waiting: ListedQuery[];
  ended: ListedQuery[];
}

/** Queries that run and wait, of all callers if one may see them, with their place in line and a way to end them. */
export function OpenQueries({ hasAll, login }: { hasAll: boolean; login: Login }): JSX.Element {
  const answer = useAnswer(() => openQueries(hasAll), String(hasAll), LOOK_EVERY_MS);
  return (
    <>
      {!hasAll && (
        <p class="note">
          These are your own queries{login.hasLogin ? "" : ", which are those of everyone without a login"}. Those of other callers are shown to who
          administers all tables by policies.
        </p>
      )}
      <Answered answer={answer}>
        {({ running, waiting, ended }) => (
          <>
            <Card title={atLeast(running.length, MOST_LISTED, "running query", "running queries")}>
              <OpenLines label="Running queries" queries={running} login={login} onDone={answer.again} none="Nothing runs now." />
            </Card>
            <Card title={atLeast(waiting.length, MOST_LISTED, "waiting query", "waiting queries")}>
              <OpenLines label="Waiting queries" queries={inLine(waiting)} login={login} onDone={answer.again} none="Nobody waits." />
            </Card>
            <Card title="Ended just now"><Ended queries={ended} login={login} /></Card>
          </>
        )}
      </Answered>
    </>
  );
}

async function openQueries(hasAll: boolean): Promise<Open> {
  const [running, waiting, newest] = await Promise.all([
    listed(hasAll, { state: "RUNNING", limit: String(MOST_LISTED) }),
    listed(hasAll, { state: "QUEUED", limit: String(MOST_LISTED) }),
    listed(hasAll, { limit: String(MOST_ENDED) }),
  ]);
  return { running, waiting, ended: newest.filter((query) => query.state !== "RUNNING" && query.state !== "QUEUED") };
}

async function listed(hasAll: boolean, values: Record<string, string>): Promise<ListedQuery[]> {
  const asked = new URLSearchParams(hasAll ? { ...values, principal: "*" } : values);
  return (await get<{ queries: ListedQuery[] }>(`/query?${asked}`)).queries;
}

/** Those with a known place come first. */
function inLine(queries: readonly ListedQuery[]): ListedQuery[] {
  return queries.toSorted((left, right) => (left.queue?.position ?? Infinity) - (right.queue?.position ?? Infinity) || 0);
}

interface OpenProps {
  label: string;
  queries: readonly ListedQuery[];
  login: Login;
  onDone: () => void;
  none: string;
}

function OpenLines({ label, queries, login, onDone, none }: OpenProps): JSX.Element {
  const rows = queries.map((query) => ({
    key: query.queryId,
    cells: [
      <Sql query={query} login={login} />,
      query.principal,
      placeWords(query),
      duration(query.elapsedMs),
      <SureButton name="Cancel" what={`the query of ${query.principal}`} act={() => remove(`/query/${query.queryId}`)} onDone={onDone} />,
    ],
  }));
  return <Lines label={label} heads={["Query", "Caller", "Place", { name: "Time", isNumber: true }, "End it"]} rows={rows} none={none} />;
}

function Ended({ queries, login }: { queries: readonly ListedQuery[]; login: Login }): JSX.Element {
  const rows = queries.map((query) => ({
    key: query.queryId,
    cells: [
      <Sql query={query} login={login} />,
      query.principal,
      <span class={`state ${query.state}`}>{query.state.toLowerCase()}</span>,
      query.errorCode ?? counted(query.rowCount, "row"),
      clock(query.submittedAt),
      duration(query.elapsedMs),
    ],
  }));
  return <Lines label="Ended queries" heads={["Query", "Caller", "State", "Result", "Sent at", { name: "Time", isNumber: true }]} rows={rows} none="There are none yet." />;
}

// The explanation of a query is shown to its caller alone.
function Sql({ query, login }: { query: ListedQuery; login: Login }): JSX.Element {
  const text = query.sql.replace(/\s+/g, " ").trim().slice(0, SHOWN_LETTERS);
  if (query.principal !== login.principal) {
    return <span class="mono sql" title={query.sql}>{text}</span>;
  }
  return <a class="mono sql" title={query.sql} href={hashOf("explain", query.queryId)}>{text}</a>;
}

function placeWords({ queue, state }: ListedQuery): string {
  if (queue === null) {
    return state === "QUEUED" ? "at another gateway, or far behind" : "runs";
  }
  return queue.position === 0 ? `planning, in ${queue.group}` : `number ${queue.position} in ${queue.group}`;
}
