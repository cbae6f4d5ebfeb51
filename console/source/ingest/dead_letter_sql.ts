/** Dead letters: the query for those of one ingest, and the request that sends one again. */

import type { Row } from "../gateway/answers";
import type { Commit } from "../gateway/ingest_answers";

export const MOST_LETTERS = 100;
const SUFFIX = "__dead_letter";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface DeadLetter {
  table: string;
  branch: string;
  position: string;
  reason: string;
  format: string;
  /** null: it is not text, or a file that could not be read has none. */
  payload: string | null;
}

export function isDeadLetters(table: string): boolean {
  return table.endsWith(SUFFIX);
}

/** Returns the query for the dead letters of an ingest; null if the id is none. */
export function deadLettersSql(table: string, ingestId: string): string | null {
  if (!UUID.test(ingestId)) {
    return null;
  }
  const name = table.split(".").map((part) => `\`${part.replaceAll("`", "``")}\``).join(".");
  return `SELECT table_name, branch, position, reason, format, payload
FROM ${name}
WHERE ingest_id = '${ingestId}'
ORDER BY position
LIMIT ${MOST_LETTERS}`;
}

/** Returns the rows of that query as dead letters. */
export function lettersIn(rows: readonly Row[], table: string): DeadLetter[] {
  const base = table.slice(0, -SUFFIX.length);
  return rows.map(([name, branch, position, reason, format, payload]) => ({
    table: textOr(name, base),
    branch: textOr(branch, "main"),
    position: textOr(position, ""),
    reason: textOr(reason, ""),
    format: textOr(format, ""),
    payload: typeof payload === "string" ? payload : null,
  }));
}

export interface Again {
  path: string;
  body: string;
  type: string;
}

/** How a record goes to its table: as a new row, or as the row of its key. */
export interface Mode {
  isUpsert: boolean;
  equalityFields: readonly string[];
}

/**
 * Returns the request that sends a payload again. Its columns are those that the record has. Each edit is to have a
 * request id of its own: the same one is written once.
 */
export function sentAgain(letter: DeadLetter, payload: string, mode: Mode, requestId: string): Again {
  const fields = mode.isUpsert ? { mode: "upsert", equalityFields: JSON.stringify(mode.equalityFields) } : {};
  const asked = { table: letter.table, branch: letter.branch, writeSchema: "infer", requestId, ...fields };
  const isCsv = letter.format === "CSV";
  // People break a JSON object into lines, and each line of a body would be a record.
  const body = isCsv ? payload : payload.replace(/\s*[\r\n]+\s*/g, " ");
  return { path: `/ingest?${new URLSearchParams(asked)}`, body, type: isCsv ? "text/csv" : "application/x-ndjson" };
}

/** Returns a text from a field of a form, which makes all line ends one character, with those of the payload. */
export function editedText(value: string, payload: string): string {
  return payload.includes("\r\n") ? value.replace(/\r?\n/g, "\r\n") : value;
}

/**
 * Returns the ids of the columns by which an ingest replaced rows of a letter's table: none, if it added rows. null: it
 * wrote none there, or some in one way and some in another.
 */
export function keyIdsOf(commits: readonly Pick<Commit, "table" | "branch" | "writeTargets">[], letter: Pick<DeadLetter, "table" | "branch">): number[] | null {
  const targets = commits.filter(({ table, branch }) => table === letter.table && branch === letter.branch).flatMap((commit) => commit.writeTargets);
  const [first, ...others] = targets.map(({ upsert }) => upsert?.equalityFieldIds ?? []);
  return first !== undefined && others.every((ids) => ids.join() === first.join()) ? first : null;
}

function textOr(cell: unknown, other: string): string {
  return typeof cell === "string" ? cell : other;
}
