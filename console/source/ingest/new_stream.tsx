import type { JSX, TargetedSubmitEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import type { Stream } from "../gateway/ingest_answers";
import { newId } from "../gateway/new_id";
import { post, problemIn } from "../gateway/requests";
import type { TableAnswer } from "../gateway/table_answers";
import { ProblemNote } from "../page/problem_note";
import { type StreamFields, streamBody } from "./stream_words";
import { TableChoice } from "./table_choice";

const FORMATS = ["ndjson", "json", "csv", "parquet", "arrow"];
const INTERVAL = "[1-9][0-9]{0,6}(ms|s|m)";

/** A form for a new stream. */
export function NewStream({ onMade }: { onMade: () => void }): JSX.Element {
  const [kind, setKind] = useState<StreamFields["kind"]>("folder");
  const [table, setTable] = useState<TableAnswer | null>(null);
  const [columns, setColumns] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [made, setMade] = useState<Stream | null>(null);
  const [isBusy, setBusy] = useState(false);
  // The same form may be sent twice after a lost answer, and is one stream.
  const request = useRef({ what: "", id: "" });
  const choose = (found: TableAnswer | null): void => {
    setTable(found);
    setColumns([]);
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (table === null || isBusy) {
      return;
    }
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => String(given.get(name) ?? "").trim();
    const fields: StreamFields = {
      name: text("name"), kind, directory: text("directory"), glob: text("glob"), format: text("format"), servers: text("servers"),
      topic: text("topic"), start: text("start"), table: table.name, columns, interval: text("interval"), onError: text("onError"),
    };
    const what = JSON.stringify(fields);
    if (request.current.what !== what) {
      request.current = { what, id: newId() };
    }
    setBusy(true);
    setProblem(null);
    setMade(null);
    post<Stream>("/streams", streamBody(fields, request.current.id)).then(
      (found) => {
        setBusy(false);
        setMade(found);
        onMade();
      },
      (error: unknown) => {
        setBusy(false);
        setProblem(problemIn(error));
        onMade();
      },
    );
  };
  return (
    <form class="fields" aria-label="New stream" onSubmit={submit}>
      <label>Name <input name="name" maxLength={255} autocomplete="off" spellcheck={false} /></label>
      <label>Reads
        <select value={kind} onChange={(event) => setKind(event.currentTarget.value === "kafka" ? "kafka" : "folder")}>
          <option value="folder">files of a folder</option>
          <option value="kafka">a topic of Kafka</option>
        </select>
      </label>
      {kind === "folder" ? (
        <>
          <label>Folder <input name="directory" required maxLength={4096} spellcheck={false} placeholder="s3a://bucket/inbox" /></label>
          <label>File names <input name="glob" maxLength={4096} spellcheck={false} placeholder="all, or *.ndjson" /></label>
          <label>Format <select name="format">{FORMATS.map((each) => <option value={each}>{each}</option>)}</select></label>
        </>
      ) : (
        <>
          <label>Servers <input name="servers" required maxLength={4096} spellcheck={false} placeholder="host:9092" /></label>
          <label>Topic <input name="topic" required maxLength={249} spellcheck={false} /></label>
          <label>Begins with <select name="start"><option value="earliest">the oldest message</option><option value="latest">the next message</option></select></label>
        </>
      )}
      <label>Every <input name="interval" required pattern={INTERVAL} defaultValue="60s" title="a number with ms, s or m, such as 60s" /></label>
      <label>A record that does not fit
        <select name="onError"><option value="REJECT_REQUEST">ends the stream</option><option value="DEAD_LETTER">goes to the dead letters</option></select>
      </label>
      <TableChoice onChoose={choose} />
      {table !== null && <ColumnChoice table={table} chosen={columns} onChange={setColumns} />}
      <button type="submit" class="primary" disabled={isBusy || table === null}>{isBusy ? "Starting …" : "Start"}</button>
      {made !== null && <p role="status">The stream {made.name === "" ? made.streamId : made.name} is there.</p>}
      {problem !== null && <ProblemNote problem={problem} />}
    </form>
  );
}

interface ColumnChoiceProps {
  table: TableAnswer;
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

function ColumnChoice({ table, chosen, onChange }: ColumnChoiceProps): JSX.Element {
  const toggle = (name: string): void => onChange(chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name]);
  return (
    <fieldset class="write-schema">
      <legend>Columns of the files</legend>
      <p class="note">{chosen.length === 0 ? "None is chosen: the files have all columns." : `The write schema has ${chosen.length} of ${table.columns.length} columns.`}</p>
      <div>
        {table.columns.map(({ name, type, required }) => (
          <label class="choice"><input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} /><span class="mono">{name}</span> <span>{type}{required && ", required"}</span></label>
        ))}
      </div>
    </fieldset>
  );
}
