import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { Row } from "../gateway/answers";
import type { TableAnswer, TableColumn } from "../gateway/table_answers";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { count, counted } from "../words/numbers";
import { ACCEPTED_BY } from "./advice";
import { LookedUp } from "./looked_up";
import { COLUMNS_AT_ONCE, boundsSql, describedColumns } from "./metadata_sql";

const MOST_SHOWN = 1_000;

/** The columns; and, if asked, what the files say about their values. */
export function ColumnsCard({ table }: { table: TableAnswer }): JSX.Element {
  const accepted = new Map(table.acceptedFilterColumns.map((each) => [each.column, each.by]));
  const rows = table.columns.slice(0, MOST_SHOWN).map((column) => ({
    key: `${column.fieldId} ${column.name}`,
    cells: [
      <span class="mono">{column.name}</span>,
      <span class="mono">{column.type}{column.required && <span class="soft"> not null</span>}</span>,
      filterWords(accepted.get(column.name)),
      column.doc ?? "",
    ],
  }));
  return (
    <Card title={`${counted(table.columns.length, "column")}`}>
      <Lines label="Columns" heads={["Column", "Type", "Filters leave out files by", "Comment"]} rows={rows} none="There are no columns." />
      {table.columns.length > MOST_SHOWN && <p class="note">{count(table.columns.length - MOST_SHOWN)} more are not shown.</p>}
      {table.source === "ICEBERG" && table.snapshotId !== null && <Bounds table={table} />}
    </Card>
  );
}

function filterWords(by: string | undefined): ComponentChildren {
  return by === undefined ? "" : <span class="badge applied">{ACCEPTED_BY[by] ?? by.toLowerCase()}</span>;
}

function Bounds({ table }: { table: TableAnswer }): JSX.Element | null {
  const all = describedColumns(table.columns);
  const [first, setFirst] = useState(0);
  const columns = all.slice(first, first + COLUMNS_AT_ONCE);
  if (columns.length === 0) {
    return null;
  }
  return (
    <div class="sub">
      <h3>Bounds and null values</h3>
      {all.length > COLUMNS_AT_ONCE && (
        <p class="pages">
          <button type="button" class="small" disabled={first === 0} onClick={() => setFirst(first - COLUMNS_AT_ONCE)}>Before</button>
          <span>{first + 1} to {first + columns.length} of {count(all.length)}</span>
          <button type="button" class="small" disabled={first + COLUMNS_AT_ONCE >= all.length} onClick={() => setFirst(first + COLUMNS_AT_ONCE)}>After</button>
        </p>
      )}
      <LookedUp
        name="Look at the files' bounds"
        note="A query of Iceberg's metadata. It reads no rows. Files that did not record them do not count. Bounds of long texts are cut, and deletes do not change them."
        sqls={[boundsSql(table, columns)]}
      >
        {([answer]) => <BoundsLines columns={columns} values={answer?.[0] ?? []} />}
      </LookedUp>
    </div>
  );
}

function BoundsLines({ columns, values }: { columns: readonly TableColumn[]; values: Row }): JSX.Element {
  const rows = columns.map((column, at) => {
    const [nulls, least, greatest] = values.slice(3 * at, 3 * at + 3);
    return {
      key: String(column.fieldId),
      cells: [
        <span class="mono">{column.name}</span>,
        typeof nulls === "number" || typeof nulls === "bigint" ? nulls.toLocaleString("en-US") : "not recorded",
        bound(least),
        bound(greatest),
      ],
    };
  });
  return <Lines label="Bounds and null values" heads={["Column", { name: "Null values", isNumber: true }, "Least", "Greatest"]} rows={rows} none="" />;
}

function bound(value: unknown): ComponentChildren {
  if (value === null || value === undefined || value === "") {
    return <span class="soft">{value === "" ? "empty text" : "not recorded"}</span>;
  }
  return <span class="mono">{String(value)}</span>;
}
