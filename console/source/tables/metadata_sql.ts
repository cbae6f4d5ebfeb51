/** The queries about a table's files: Iceberg's own metadata tables, under the policies of whoever asks. */

import { quoted } from "../ask/completion";
import type { TableAnswer, TableColumn } from "../gateway/table_answers";

export const MOST_FILES = 200;
export const MOST_PARTITIONS = 500;
export const COLUMNS_AT_ONCE = 40;
const NESTED = /^(struct|list|map)\b/;
const BYTES = /^(binary|fixed|unknown|variant|geo)/;

type Named = Pick<TableAnswer, "catalog" | "schema" | "table">;

/** Returns the table's name as people write it in SQL. */
export function sqlName(table: Named): string {
  return partsOf(table).map(quoted).join(".");
}

/** Returns the name as the page writes it: no part can be taken for a word of SQL. */
function exactName(table: Named): string {
  return partsOf(table).map(ticked).join(".");
}

function partsOf(table: Named): string[] {
  return [table.catalog, ...table.schema.split("."), table.table];
}

function ticked(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** Counts data files by how many columns they have: a write that sends some columns writes a part of them. */
export function widthsSql(table: Named): string {
  return `SELECT size(column_sizes) AS columns, count(*) AS files, sum(record_count) AS rows, sum(file_size_in_bytes) AS bytes
FROM ${exactName(table)}.files
WHERE content = 0
GROUP BY size(column_sizes)
ORDER BY columns DESC
LIMIT ${MOST_FILES}`;
}

/** Lists the largest files. `isPartitioned` decides whether the table of files says to which partition each belongs. */
export function filesSql(table: Named, isPartitioned: boolean): string {
  const partition = isPartitioned ? "CAST(partition AS STRING)" : "CAST(NULL AS STRING)";
  return `SELECT content, ${partition} AS part, file_path, record_count, file_size_in_bytes, size(column_sizes) AS columns
FROM ${exactName(table)}.files
ORDER BY file_size_in_bytes DESC
LIMIT ${MOST_FILES}`;
}

/** Lists the largest partitions. */
export function partitionsSql(table: Named): string {
  return `SELECT CAST(partition AS STRING) AS part, file_count, record_count, total_data_file_size_in_bytes AS bytes
FROM ${exactName(table)}.partitions
ORDER BY bytes DESC
LIMIT ${MOST_PARTITIONS}`;
}

/** Returns the columns whose values files describe: nested ones have no bounds of their own. */
export function describedColumns(columns: readonly TableColumn[]): TableColumn[] {
  return columns.filter((column) => !isNested(column));
}

export function isNested({ type }: { type: string }): boolean {
  return NESTED.test(type);
}

/** Asks for each column's null values, and its least and greatest value, in the order of the columns. */
export function boundsSql(table: Named, columns: readonly TableColumn[]): string {
  const asked = columns.flatMap((column, at) => {
    const of = `readable_metrics.${ticked(column.name)}`;
    const bounds = BYTES.test(column.type)
      ? ["CAST(NULL AS STRING)", "CAST(NULL AS STRING)"]
      : [`CAST(min(${of}.lower_bound) AS STRING)`, `CAST(max(${of}.upper_bound) AS STRING)`];
    return [`sum(${of}.null_value_count) AS n${at}`, `${bounds[0]} AS l${at}`, `${bounds[1]} AS u${at}`];
  });
  return `SELECT ${asked.join(",\n  ")}\nFROM ${exactName(table)}.files\nWHERE content = 0`;
}
