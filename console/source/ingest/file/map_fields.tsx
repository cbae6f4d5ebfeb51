import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { TableAnswer } from "../../gateway/table_answers";
import { Card } from "../../page/card";
import { Lines } from "../../page/lines";
import { counted } from "../../words/numbers";
import { APPEND, type WriteMode, askedOf, fittedMode, modeFaults } from "./file_write";
import { type Mapping, faultsOf, firstMapping, isFree, mapped, writeSchemaOf } from "./mapping";
import { SendFile } from "./send_file";
import { MEDIA_TYPES, type Sniffed } from "./sniff";

export const MOST_SAMPLE_CHARACTERS = 60;

interface Props {
  file: File;
  sniffed: Sniffed;
  table: TableAnswer;
}

/** Maps the fields of a file to columns, shows the write schema that follows, and commits the records. */
export function MapFields({ file, sniffed, table }: Props): JSX.Element {
  const [mapping, setMapping] = useState<Mapping>(() => firstMapping(sniffed.fields, table.columns));
  const [chosenMode, setMode] = useState<WriteMode>(APPEND);
  const writeSchema = writeSchemaOf(mapping);
  const mode = fittedMode(chosenMode, writeSchema);
  const left = table.columns.filter(({ name }) => !writeSchema.includes(name)).length;
  const choose = (name: string, column: string): void => setMapping((before) => new Map([...before, [name, column === "" ? null : column]]));
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
      <SendFile
        asked={askedOf(table.name, writeSchema, mode)}
        subject={[...mapping]}
        type={MEDIA_TYPES[sniffed.format]}
        faults={[...faultsOf(mapping, sniffed, table, file.size), ...modeFaults(mode, table)]}
        content={() => mapped(file, sniffed, mapping)}
      >
        <ModeChoice mode={mode} writeSchema={writeSchema} isWhole={left === 0} onChange={setMode} />
      </SendFile>
    </Card>
  );
}

interface ModeChoiceProps {
  mode: WriteMode;
  writeSchema: readonly string[];
  isWhole: boolean;
  onChange: (mode: WriteMode) => void;
}

/** Whether records are added, or replace the rows of their keys. */
function ModeChoice({ mode, writeSchema, isWhole, onChange }: ModeChoiceProps): JSX.Element {
  const { isUpsert, equalityFields } = mode;
  const toggle = (name: string): void =>
    onChange({ isUpsert, equalityFields: equalityFields.includes(name) ? equalityFields.filter((each) => each !== name) : [...equalityFields, name] });
  return (
    <>
      <p class="row">
        <label class="choice"><span>The records</span>
          <select value={isUpsert ? "upsert" : "append"} onChange={(event) => onChange({ isUpsert: event.currentTarget.value === "upsert", equalityFields })}>
            <option value="append">are added as new rows</option>
            <option value="upsert">replace the rows of their keys</option>
          </select>
        </label>
      </p>
      {isUpsert && (
        <fieldset class="write-schema">
          <legend>Columns that identify a row</legend>
          <p class="note">
            {equalityFields.length === 0 ? "None is chosen: the identifier fields of the table count, if it has some." : `A record replaces the rows with the same ${equalityFields.join(", ")}, or is added if there are none.`}
            {!isWhole && " The whole row is replaced: columns that the file does not have become NULL."}
          </p>
          <div>
            {writeSchema.map((name) => (
              <label class="choice"><input type="checkbox" checked={equalityFields.includes(name)} onChange={() => toggle(name)} /><span class="mono">{name}</span></label>
            ))}
          </div>
        </fieldset>
      )}
    </>
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
