import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Place } from "../../ask/completion";
import { Listing } from "../../ask/listing";
import { PlaceFields } from "../../ask/place_fields";
import type { Problem } from "../../gateway/answers";
import { get, problemIn, refusal } from "../../gateway/requests";
import { Card } from "../../page/card";
import { Lines } from "../../page/lines";
import { ProblemNote } from "../../page/problem_note";
import { type NewColumn, type NewTable as Made, askedForNew, fullName, newTableFaults, transformsFor, writtenColumns } from "./file_write";
import { TYPES } from "./guess_type";
import { MOST_SAMPLE_CHARACTERS } from "./map_fields";
import { MOST_REWRITTEN_BYTES, type Mapping, isFree, isIdentity, mapped } from "./mapping";
import { SendFile } from "./send_file";
import { MEDIA_TYPES, type Sniffed } from "./sniff";

interface Props {
  file: File;
  sniffed: Sniffed;
}

/** Makes a table of the fields of a file, and commits the records into it. */
export function NewTable({ file, sniffed }: Props): JSX.Element {
  const listing = useMemo(() => new Listing(), []);
  const [place, setPlace] = useState<Place>({ catalog: "", schema: "" });
  const [table, setTable] = useState("");
  const [columns, setColumns] = useState<readonly NewColumn[]>(() => sniffed.fields.map(({ name, type }) => ({ field: name, name, type: type ?? "", isLeftOut: false })));
  const [partition, setPartition] = useState({ by: "", transform: "identity" });
  const [problem, setProblem] = useState<Problem | null>(null);
  const written = writtenColumns({ columns });
  const source = written.find(({ name }) => name === partition.by);
  const transforms = transformsFor(source?.type ?? "");
  const made: Made = {
    ...place,
    table: table.trim(),
    columns,
    partitionBy: source === undefined ? "" : source.name,
    transform: transforms.includes(partition.transform) ? partition.transform : "identity",
  };
  const mapping: Mapping = new Map(columns.map(({ field, name, isLeftOut }) => [field, isLeftOut ? null : name]));
  const change = (field: string, part: Partial<NewColumn>): void =>
    setColumns((before) => before.map((column) => (column.field === field ? { ...column, ...part } : column)));
  return (
    <Card title="A new table of these fields">
      <div class="table-choice">
        <PlaceFields listing={listing} place={place} onChange={setPlace} none="choose one" onProblem={setProblem} />
        <label class="choice"><span>Name of the table</span><input value={table} maxLength={255} spellcheck={false} autocomplete="off" onInput={(event) => setTable(event.currentTarget.value)} /></label>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
      <Columns sniffed={sniffed} columns={columns} onChange={change} />
      <p class="row">
        <label class="choice"><span>Partitioned by</span>
          <select value={made.partitionBy} onChange={(event) => setPartition({ ...partition, by: event.currentTarget.value })}>
            <option value="">nothing</option>
            {written.filter(({ name, type }) => name !== "" && !/^(float|double|binary)$/.test(type)).map(({ name }) => <option value={name}>{name}</option>)}
          </select>
        </label>
        {transforms.length > 1 && (
          <label class="choice"><span>as its</span>
            <select value={made.transform} onChange={(event) => setPartition({ ...partition, transform: event.currentTarget.value })}>
              {transforms.map((each) => <option value={each}>{each === "identity" ? "value" : each}</option>)}
            </select>
          </label>
        )}
      </p>
      <SendFile
        asked={askedForNew(made)}
        subject={[...mapping]}
        type={MEDIA_TYPES[sniffed.format]}
        faults={[...newTableFaults(made), ...sizeFaults(mapping, sniffed, file.size)]}
        content={() => mapped(file, sniffed, mapping)}
        check={(isRepeated) => (isRepeated ? Promise.resolve() : checkIsNew(fullName(made)))}
      />
    </Card>
  );
}

interface ColumnsProps {
  sniffed: Sniffed;
  columns: readonly NewColumn[];
  onChange: (field: string, part: Partial<NewColumn>) => void;
}

function Columns({ sniffed, columns, onChange }: ColumnsProps): JSX.Element {
  const samples = new Map(sniffed.fields.map((field) => [field.name, field.samples]));
  const isChangeable = isFree(sniffed.format);
  const rows = columns.map(({ field, name, type, isLeftOut }) => ({
    key: field,
    cells: [
      <span class="mono">{field}</span>,
      <span class="soft mono samples">{(samples.get(field) ?? []).map((sample) => sample.slice(0, MOST_SAMPLE_CHARACTERS)).join(" · ")}</span>,
      isChangeable
        ? <input class="mono" aria-label={`Name of the column for ${field}`} value={name} disabled={isLeftOut} maxLength={255} spellcheck={false} autocomplete="off" onInput={(event) => onChange(field, { name: event.currentTarget.value })} />
        : <span class="mono">{name}</span>,
      <select aria-label={`Type of the column for ${field}`} value={isLeftOut ? "out" : type} onChange={(event) => chosen(event.currentTarget.value, (part) => onChange(field, part))}>
        <option value="">choose one</option>
        {isChangeable && <option value="out">leave out</option>}
        {(type === "" || TYPES.some((each) => each === type) ? TYPES : [type, ...TYPES]).map((each) => <option value={each}>{each}</option>)}
      </select>,
    ],
  }));
  return (
    <>
      <Lines label="Columns of the new table" heads={["Field", "First values", "Column", "Type"]} rows={rows} none="The file has no fields." />
      <p class="note">{isChangeable ? "Types are guessed from the first records: look at them. A value that does not fit its type is a record that does not fit." : "Types are those of the file."} All columns are optional.</p>
    </>
  );
}

function chosen(value: string, change: (part: Partial<NewColumn>) => void): void {
  change(value === "out" ? { isLeftOut: true } : { isLeftOut: false, type: value });
}

function sizeFaults(mapping: Mapping, sniffed: Sniffed, bytes: number): string[] {
  return isFree(sniffed.format) && !isIdentity(mapping) && bytes > MOST_REWRITTEN_BYTES
    ? [`The file is too large to be changed here. Up to ${MOST_REWRITTEN_BYTES / 1024 / 1024} MiB can be; any size can be sent with its names as they are.`]
    : [];
}

/** Otherwise, the records would go into a table that the user has not looked at. */
async function checkIsNew(name: string): Promise<void> {
  try {
    await get(`/tables/${encodeURIComponent(name)}`);
  } catch (error) {
    if (problemIn(error).code === "TABLE_NOT_FOUND") {
      return;
    }
    throw error;
  }
  throw refusal("TABLE_EXISTS", `${name} is there already. Choose it as an existing table to add records to it.`);
}
