import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Problem } from "../../gateway/answers";
import type { Ingest } from "../../gateway/ingest_answers";
import { RequestIds } from "../../gateway/request_ids";
import { problemIn, refusal, sendRecords } from "../../gateway/requests";
import type { TableAnswer } from "../../gateway/table_answers";
import { Card } from "../../page/card";
import { Lines } from "../../page/lines";
import { ProblemNote } from "../../page/problem_note";
import { hashOf } from "../../page/route";
import { counted } from "../../words/numbers";
import { stateClass } from "../ingest_words";
import { Unreadable } from "./csv_text";
import { type Mapping, faultsOf, firstMapping, isFree, mapped, writeSchemaOf } from "./mapping";
import { MEDIA_TYPES, type Sniffed } from "./sniff";

const MOST_SAMPLE_CHARACTERS = 60;

interface Props {
  file: File;
  sniffed: Sniffed;
  table: TableAnswer;
}

/** Maps the fields of a file to columns, shows the write schema that follows, and commits the records. */
export function MapFields({ file, sniffed, table }: Props): JSX.Element {
  const [mapping, setMapping] = useState<Mapping>(() => firstMapping(sniffed.fields, table.columns));
  const [onError, setOnError] = useState("REJECT_REQUEST");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [ingest, setIngest] = useState<Ingest | null>(null);
  const [isBusy, setBusy] = useState(false);
  // What was sent before under an id is not written twice.
  const ids = useMemo(() => new RequestIds(), []);
  const faults = faultsOf(mapping, sniffed, table, file.size);
  const writeSchema = writeSchemaOf(mapping);
  const left = table.columns.filter(({ name }) => !writeSchema.includes(name)).length;
  const choose = (name: string, column: string): void => {
    setMapping((before) => new Map([...before, [name, column === "" ? null : column]]));
    setIngest(null);
    setProblem(null);
  };
  const commit = async (): Promise<void> => {
    const asked = { table: table.name, writeSchema: JSON.stringify(writeSchema), onError, requestId: ids.of([[...mapping], onError]) };
    setBusy(true);
    setProblem(null);
    try {
      const records = await mapped(file, sniffed, mapping);
      setIngest(await sendRecords<Ingest>(`/ingest?${new URLSearchParams(asked)}`, records, MEDIA_TYPES[sniffed.format]));
    } catch (error) {
      setProblem(problemIn(error instanceof Unreadable ? refusal("FILE_UNREADABLE", error.message) : error));
    }
    setBusy(false);
  };
  const rows = sniffed.fields.map(({ name, samples }) => ({
    key: name,
    cells: [
      <span class="mono">{name}</span>,
      <span class="soft mono samples">{samples.map((sample) => sample.slice(0, MOST_SAMPLE_CHARACTERS)).join(" · ")}</span>,
      isFree(sniffed.format)
        ? <ColumnFor name={name} chosen={mapping.get(name) ?? null} table={table} onChoose={(column) => choose(name, column)} />
        : <span class="mono">{mapping.get(name) ?? "none of this name"}</span>,
    ],
  }));
  return (
    <Card title={<>Fields, and columns of <span class="as-it-is mono">{table.name}</span></>}>
      <Lines label="Fields of the file" heads={["Field", "First values", "Column"]} rows={rows} none="The file has no fields." />
      <p class="write-schema-words">writeSchema: <code>{writeSchema.length === 0 ? "none" : JSON.stringify(writeSchema)}</code></p>
      {left > 0 && <p class="note">{counted(left, "column")} of the table {left === 1 ? "is" : "are"} not in it: the files do not have {left === 1 ? "it, and it reads" : "them, and they read"} as NULL or as the default.</p>}
      {faults.length > 0 && <ul class="faults" role="status">{faults.map((fault) => <li class="error">{fault}</li>)}</ul>}
      <p class="row">
        <label class="choice"><span>Records that do not fit</span>
          <select value={onError} onChange={(event) => setOnError(event.currentTarget.value)}>
            <option value="REJECT_REQUEST">refuse the file</option>
            <option value="DEAD_LETTER">go to the dead letters</option>
          </select>
        </label>
        <button type="button" class="primary" disabled={isBusy || faults.length > 0 || ingest !== null} onClick={() => void commit()}>{isBusy ? "Sending …" : "Commit"}</button>
      </p>
      {ingest !== null && <Sent ingest={ingest} />}
      {problem !== null && <ProblemNote problem={problem} />}
    </Card>
  );
}

interface ColumnForProps {
  name: string;
  chosen: string | null;
  table: TableAnswer;
  onChoose: (column: string) => void;
}

function ColumnFor({ name, chosen, table, onChoose }: ColumnForProps): JSX.Element {
  return (
    <select aria-label={`Column for ${name}`} value={chosen ?? ""} onChange={(event) => onChoose(event.currentTarget.value)}>
      <option value="">leave out</option>
      {table.columns.map((column) => <option value={column.name}>{column.name}: {column.type}{column.required ? ", required" : ""}</option>)}
    </select>
  );
}

function Sent({ ingest }: { ingest: Ingest }): JSX.Element {
  const records = ingest.commits.reduce((sum, commit) => sum + commit.addedRecords, 0);
  return (
    <p role="status" class="row">
      <span class={`state ${stateClass(ingest.state)}`}>{ingest.state.toLowerCase()}</span>
      <span>{counted(records - ingest.rejected.count, "record")}{ingest.rejected.count > 0 && `, and ${counted(ingest.rejected.count, "rejected record")}`}</span>
      <a href={hashOf("ingest", ingest.ingestId)}>Look at the ingest</a>
    </p>
  );
}
