/** Runs a short query of the page itself, and returns its rows. */

import { type Chunk, type QueryAnswer, type Row, type Status, isFinal } from "../gateway/answers";
import { newId } from "../gateway/new_id";
import { get, post, refusal, remove } from "../gateway/requests";

const WITHIN_S = 120;
const LOOK_EVERY = "1s";
const MOST_CHUNKS = 50;

export interface LookUp {
  isLeft: boolean;
  onStatus: (status: Status) => void;
}

/** Returns the rows; null if nobody waits for them any more, and then the query is canceled. */
export async function rowsOf(sql: string, asked: LookUp): Promise<Row[] | null> {
  const body = { sql, waitTimeout: "0s", timeout: `${WITHIN_S}s`, requestId: newId(), tags: { from: "console" } };
  const until = Date.now() + (WITHIN_S + 10) * 1000;
  const sent = await post<QueryAnswer>("/query", body);
  let ended: QueryAnswer | null;
  try {
    ended = await endOf(sent, asked, until);
  } catch (error) {
    // Nobody follows it any more.
    await cancel(sent.queryId);
    throw error;
  }
  if (ended === null) {
    await cancel(sent.queryId);
    return null;
  }
  return rowsIn(ended);
}

/** Follows the query to its end; null if nobody waits for it any more. */
async function endOf(sent: QueryAnswer, asked: LookUp, until: number): Promise<QueryAnswer | null> {
  let answer = sent;
  // The first answer has no rows, even if the query is over already.
  do {
    if (asked.isLeft) {
      return null;
    }
    if (Date.now() > until) {
      throw refusal("QUERY_TIMED_OUT", `The gateway did not answer within ${WITHIN_S} seconds. It may be busy.`);
    }
    asked.onStatus(answer.status);
    answer = await get<QueryAnswer>(`/query/${sent.queryId}?waitTimeout=${LOOK_EVERY}&format=JSON`);
  } while (!isFinal(answer.status.state));
  return answer;
}

async function rowsIn(answer: QueryAnswer): Promise<Row[]> {
  const { state, error } = answer.status;
  if (state !== "SUCCEEDED" || answer.result === null) {
    throw refusal(error?.code ?? state, error?.detail ?? "The query ended without a result.");
  }
  const rows = [...answer.result.rows];
  let next = answer.result.nextChunkLink;
  for (let chunks = 1; next !== null && chunks < MOST_CHUNKS; chunks += 1) {
    const chunk: Chunk = await get<Chunk>(next);
    rows.push(...chunk.rows);
    next = chunk.nextChunkLink;
  }
  return rows;
}

async function cancel(queryId: string): Promise<void> {
  try {
    await remove(`/query/${queryId}`);
  } catch {
    // It ends by its own timeout.
  }
}
