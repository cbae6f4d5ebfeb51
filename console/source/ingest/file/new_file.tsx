import type { JSX, TargetedDragEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Problem } from "../../gateway/answers";
import { problemIn, refusal } from "../../gateway/requests";
import type { TableAnswer } from "../../gateway/table_answers";
import { Card } from "../../page/card";
import { ProblemNote } from "../../page/problem_note";
import { size } from "../../words/numbers";
import { TableChoice } from "../table_choice";
import { Unreadable } from "./csv_text";
import { MapFields } from "./map_fields";
import { NewTable } from "./new_table";
import { type Sniffed, sniff } from "./sniff";

interface Taken {
  file: File;
  sniffed: Sniffed;
  number: number;
}

/** Takes a file, shows its fields, and sends it to a table. */
export function NewFile(): JSX.Element {
  const [taken, setTaken] = useState<Taken | null>(null);
  const [table, setTable] = useState<TableAnswer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isOver, setOver] = useState(false);
  const [isNew, setNew] = useState(false);
  const turn = useRef(0);
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) {
      return;
    }
    turn.current += 1;
    const number = turn.current;
    setTaken(null);
    setProblem(null);
    try {
      const sniffed = await sniff(file);
      if (number === turn.current) {
        setTaken({ file, sniffed, number });
      }
    } catch (error) {
      if (number === turn.current) {
        setProblem(problemIn(error instanceof Unreadable ? refusal("FILE_UNREADABLE", error.message) : error));
      }
    }
  };
  const drop = (event: TargetedDragEvent<HTMLDivElement>): void => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer?.files[0]);
  };
  return (
    <>
      <Card title="File">
        <div
          class={isOver ? "drop over" : "drop"}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <label class="choice"><span>Drop a file here, or choose one</span><input type="file" onChange={(event) => void take(event.currentTarget.files?.[0])} /></label>
          <p class="note">CSV with a first line of names, JSON lines, Parquet, or an Arrow stream. It is looked at in this browser, and sent when you say so.</p>
        </div>
        {taken !== null && (
          <p class="facts" role="status">
            <span><b>{taken.file.name}</b></span><span>{taken.sniffed.format}</span><span>{size(taken.file.size)}</span><span>{taken.sniffed.fields.length} fields</span>
            {taken.sniffed.isPart && <span>of its beginning: later lines may have more</span>}
          </p>
        )}
        {problem !== null && <ProblemNote problem={problem} />}
      </Card>
      <Card title="Table">
        <fieldset class="either">
          <legend class="hidden">Where the records go</legend>
          <label class="choice"><input type="radio" name="where" checked={!isNew} onChange={() => setNew(false)} /><span>A table that exists</span></label>
          <label class="choice"><input type="radio" name="where" checked={isNew} onChange={() => { setNew(true); setTable(null); }} /><span>A new table</span></label>
        </fieldset>
        {isNew ? <p class="note">Its columns are made of the fields of the file. You need the right to create it.</p> : <TableChoice onChoose={setTable} />}
      </Card>
      {taken !== null && isNew && <NewTable key={taken.number} file={taken.file} sniffed={taken.sniffed} />}
      {taken !== null && table !== null && <MapFields key={`${taken.number} ${table.name}`} file={taken.file} sniffed={taken.sniffed} table={table} />}
      {taken === null
        ? <p class="none">Choose a file to see which field goes to which column.</p>
        : !isNew && table === null && <p class="none">Choose a table to see which field goes to which column.</p>}
    </>
  );
}
