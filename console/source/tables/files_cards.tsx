import type { JSX } from "preact";
import type { Row } from "../gateway/answers";
import type { TableAnswer, TableColumn } from "../gateway/table_answers";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { count, counted, size } from "../words/numbers";
import { LookedUp } from "./looked_up";
import { MOST_FILES, MOST_PARTITIONS, filesSql, partitionsSql, widthsSql } from "./metadata_sql";
import { numberOf, widthOf } from "./widths";

const NOTE = "A query of Iceberg's metadata. It reads no rows.";
const CONTENTS: Readonly<Record<string, string>> = { 0: "data", 1: "deletes by position", 2: "deletes by value" };

/** The files: how many columns they have, and the largest ones. */
export function FilesCard({ table }: { table: TableAnswer }): JSX.Element {
  return (
    <Card title="Files">
      <LookedUp name="Look at the files" note={NOTE} sqls={[widthsSql(table), filesSql(table, table.partitionSpec.length > 0)]}>
        {([widths, files]) => (
          <>
            <Widths rows={widths ?? []} columns={table.columns} />
            <Files rows={files ?? []} columns={table.columns} />
          </>
        )}
      </LookedUp>
    </Card>
  );
}

function Widths({ rows, columns }: { rows: readonly Row[]; columns: readonly TableColumn[] }): JSX.Element {
  const lines = rows.map(([width, files, records, bytes]) => ({
    key: String(width),
    cells: [widthOf(width, columns), count(numberOf(files)), count(numberOf(records)), size(numberOf(bytes)), size(numberOf(bytes) / Math.max(1, numberOf(files)))],
  }));
  return (
    <>
      <h3>Columns in the data files</h3>
      <Lines
        label="Columns in the data files"
        heads={["Columns", ...["Files", "Rows", "Bytes", "Bytes a file"].map((head) => ({ name: head, isNumber: true }))]}
        rows={lines}
        none="There are no data files."
      />
    </>
  );
}

function Files({ rows, columns }: { rows: readonly Row[]; columns: readonly TableColumn[] }): JSX.Element {
  const lines = rows.map(([content, part, path, records, bytes, width]) => ({
    key: String(path),
    cells: [
      <span class="mono path">{String(path)}</span>,
      <span class="mono">{part === null ? "" : String(part)}</span>,
      CONTENTS[String(content)] ?? String(content),
      content === 0 ? widthOf(width, columns) : "",
      count(numberOf(records)),
      size(numberOf(bytes)),
    ],
  }));
  return (
    <>
      <h3>{rows.length < MOST_FILES ? counted(rows.length, "file") : `The ${MOST_FILES} largest files`}</h3>
      <Lines
        label="Files"
        heads={["File", "Partition", "Content", "Columns", { name: "Rows", isNumber: true }, { name: "Bytes", isNumber: true }]}
        rows={lines}
        none="There are no files."
      />
    </>
  );
}

/** The partitions, the largest ones first. */
export function PartitionsCard({ table }: { table: TableAnswer }): JSX.Element {
  return (
    <Card title="Partitions">
      <LookedUp name="Look at the partitions" note={NOTE} sqls={[partitionsSql(table)]}>
        {([partitions]) => <Partitions rows={partitions ?? []} fields={table.partitionSpec.map((field) => field.name)} />}
      </LookedUp>
    </Card>
  );
}

function Partitions({ rows, fields }: { rows: readonly Row[]; fields: readonly string[] }): JSX.Element {
  const most = Math.max(1, ...rows.map((row) => numberOf(row[3])));
  const lines = rows.map(([part, files, records, bytes], at) => ({
    key: `${at} ${String(part)}`,
    cells: [
      <span class="mono">{String(part)}</span>,
      count(numberOf(files)),
      count(numberOf(records)),
      <span class="bar-cell"><span class="track" aria-hidden="true"><span class="fill" style={{ width: `${(numberOf(bytes) / most) * 100}%` }} /></span>{size(numberOf(bytes))}</span>,
    ],
  }));
  return (
    <>
      {rows.length === MOST_PARTITIONS && <p class="note">The {MOST_PARTITIONS} largest ones:</p>}
      <Lines
        label="Partitions"
        heads={[fields.join(", "), ...["Files", "Rows", "Bytes"].map((head) => ({ name: head, isNumber: true }))]}
        rows={lines}
        none="There are no partitions yet."
      />
    </>
  );
}
