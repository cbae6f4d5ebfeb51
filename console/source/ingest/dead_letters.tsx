import type { JSX, TargetedSubmitEvent } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import type { Ingest } from "../gateway/ingest_answers";
import { RequestIds } from "../gateway/request_ids";
import { problemIn, sendRecords } from "../gateway/requests";
import { Card } from "../page/card";
import { ProblemNote } from "../page/problem_note";
import { hashOf } from "../page/route";
import { LookedUp } from "../tables/looked_up";
import { counted } from "../words/numbers";
import type { ColumnNames } from "./column_names";
import { type DeadLetter, MOST_LETTERS, deadLettersSql, editedText, keyIdsOf, lettersIn, sentAgain } from "./dead_letter_sql";

interface Props {
  ingest: Ingest;
  table: string;
  names: ColumnNames;
}

/** The dead letters of an ingest in one table: each can be edited, and sent again. */
export function DeadLetters({ ingest, table, names }: Props): JSX.Element | null {
  const sql = deadLettersSql(table, ingest.ingestId);
  return sql === null ? null : (
    <Card title={<>Edit and send again: <span class="as-it-is mono">{table}</span></>}>
      <LookedUp name="Show the records" note="This asks the table of dead letters, by a query." sqls={[sql]}>
        {([rows = []]) => <Letters letters={lettersIn(rows, table)} ingest={ingest} names={names} />}
      </LookedUp>
    </Card>
  );
}

function Letters({ letters, ingest, names }: { letters: readonly DeadLetter[]; ingest: Ingest; names: ColumnNames }): JSX.Element {
  if (letters.length === 0) {
    return <p class="none">There are no dead letters of this ingest that you may read.</p>;
  }
  return (
    <>
      <p class="note">A record that was sent again stays here as a dead letter. Records that delete, and events of Debezium, have to be sent by your client.</p>
      <ol class="letters">{letters.map((letter, at) => <li><Letter letter={letter} number={at + 1} keys={keysOf(ingest, letter, names)} /></li>)}</ol>
      {letters.length >= MOST_LETTERS && <p class="note">These are the first {counted(letters.length, "record")}.</p>}
    </>
  );
}

/** The names of the equality fields by which the ingest replaced rows of this table; null: it is not known. */
function keysOf(ingest: Ingest, letter: DeadLetter, names: ColumnNames): string[] | null {
  const known = names.get(letter.table);
  const found = keyIdsOf(ingest.commits, letter)?.map((id) => known?.get(id)) ?? [undefined];
  return found.every((name) => name !== undefined) ? found : null;
}

function Letter({ letter, number, keys }: { letter: DeadLetter; number: number; keys: string[] | null }): JSX.Element {
  const { payload, reason, position, table, branch } = letter;
  const [text, setText] = useState(payload ?? "");
  const [mode, setMode] = useState(keys === null ? "" : keys.length === 0 ? "append" : "upsert");
  const [fields, setFields] = useState(keys?.join(", ") ?? "");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sentId, setSentId] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // The same text may be sent twice after a lost answer, and is written once.
  const ids = useMemo(() => new RequestIds(), []);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const equalityFields = fields.split(",").map((name) => name.trim()).filter((name) => name !== "");
    const again = sentAgain(letter, text, { isUpsert: mode === "upsert", equalityFields }, ids.of([text, mode, equalityFields]));
    setBusy(true);
    setProblem(null);
    sendRecords<Ingest>(again.path, again.body, again.type).then(
      (found) => {
        setBusy(false);
        setSentId(found.ingestId);
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(problemIn(error));
      },
    );
  };
  const changed = (set: (value: string) => void) => (value: string): void => {
    set(value);
    setSentId(null);
  };
  return (
    <form class="letter" aria-label={`Record ${number}`} onSubmit={submit}>
      <p><b>{reason}</b> <span class="soft">{[position, `for ${table}`, branch === "main" ? "" : `branch ${branch}`].filter((part) => part !== "").join(", ")}</span></p>
      {payload === null ? <p class="none">It is not text, or there is no record: fix it where it came from.</p> : (
        <>
          <label><span class="hidden">Record {number}</span><textarea class="mono" rows={Math.min(12, text.split("\n").length + 1)} spellcheck={false} value={text} onInput={(event) => changed(setText)(editedText(event.currentTarget.value, payload))} /></label>
          <p class="row">
            <label class="choice"><span>Send it</span>
              <select required value={mode} onChange={(event) => changed(setMode)(event.currentTarget.value)}>
                <option value="">choose how</option>
                <option value="append">as a new row</option>
                <option value="upsert">in place of rows with the same</option>
              </select>
            </label>
            {mode === "upsert" && <label class="choice"><span>Columns</span><input required spellcheck={false} value={fields} onInput={(event) => changed(setFields)(event.currentTarget.value)} /></label>}
            <button type="submit" disabled={isBusy || sentId !== null || text.trim() === ""}>{isBusy ? "Sending …" : "Send again"}</button>
            {sentId !== null && <span role="status">Sent: <a href={hashOf("ingest", sentId)}>its ingest</a></span>}
          </p>
        </>
      )}
      {problem !== null && <ProblemNote problem={problem} />}
    </form>
  );
}
