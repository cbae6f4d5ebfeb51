/** What is asked of the gateway for the records of a file: where they go, and how. */

import type { TableAnswer } from "../../gateway/table_answers";

/** How records go to a table. */
export interface WriteMode {
  isUpsert: boolean;
  /** The columns that identify a row; none: the table's own identifier fields. */
  equalityFields: readonly string[];
}

export const APPEND: WriteMode = { isUpsert: false, equalityFields: [] };

/** Returns the fields of a request that writes to a table. */
export function askedOf(table: string, writeSchema: readonly string[], mode: WriteMode): Record<string, string> {
  const keys = mode.equalityFields.length > 0 ? { equalityFields: JSON.stringify(mode.equalityFields) } : {};
  return { table, writeSchema: JSON.stringify(writeSchema), ...(mode.isUpsert && { mode: "upsert", ...keys }) };
}

/** Returns the mode without columns that are not written: the choice of another column may have taken one away. */
export function fittedMode(mode: WriteMode, writeSchema: readonly string[]): WriteMode {
  return { ...mode, equalityFields: mode.equalityFields.filter((name) => writeSchema.includes(name)) };
}

/** Returns what stands against this mode; each a sentence. */
export function modeFaults(mode: WriteMode, table: Pick<TableAnswer, "columns" | "partitionSpec">): string[] {
  if (!mode.isUpsert || mode.equalityFields.length === 0) {
    return [];
  }
  const partitioned = [...new Set(table.partitionSpec.filter(({ transform }) => transform !== "void").map(({ source }) => source))];
  const missing = partitioned.filter((name) => !mode.equalityFields.includes(name));
  const rounded = table.columns.filter(({ name, type }) => mode.equalityFields.includes(name) && /^(float|double)$/.test(type));
  return [
    ...missing.map((name) => `The table is partitioned by ${name}: rows are replaced within a partition, so this column has to identify them, too.`),
    ...rounded.map(({ name, type }) => `${name} is a ${type}, which identifies no row.`),
  ];
}

/** A column of a new table. */
export interface NewColumn {
  /** The field of the file. */
  field: string;
  name: string;
  /** As Iceberg spells it; empty: none is chosen. */
  type: string;
  isLeftOut: boolean;
}

export interface NewTable {
  catalog: string;
  schema: string;
  table: string;
  columns: readonly NewColumn[];
  /** The column that it is partitioned by, and how; empty: it is not. */
  partitionBy: string;
  transform: string;
}

export const TRANSFORMS = ["identity", "hour", "day", "month", "year"] as const;
const TEMPORAL = /^(date|timestamp|timestamptz)$/;

/** Returns the transforms that a column of this type can be partitioned by. */
export function transformsFor(type: string): readonly string[] {
  return !TEMPORAL.test(type) ? ["identity"] : type === "date" ? TRANSFORMS.filter((each) => each !== "hour") : TRANSFORMS;
}

export function writtenColumns({ columns }: Pick<NewTable, "columns">): NewColumn[] {
  return columns.filter(({ isLeftOut }) => !isLeftOut);
}

/** Returns the fields of a request that makes the table and writes to it. */
export function askedForNew(made: NewTable): Record<string, string> {
  const columns = writtenColumns(made);
  const fields = columns.map(({ name, type }, at) => ({ id: at + 1, name, required: false, type }));
  const partitionSpec = made.partitionBy === "" ? [] : [{ source: made.partitionBy, transform: made.transform }];
  return {
    table: fullName(made),
    schema: JSON.stringify({ type: "struct", fields }),
    create: JSON.stringify(partitionSpec.length > 0 ? { partitionSpec } : {}),
    writeSchema: JSON.stringify(columns.map(({ name }) => name)),
  };
}

export function fullName({ catalog, schema, table }: Pick<NewTable, "catalog" | "schema" | "table">): string {
  return `${catalog}.${schema}.${table}`;
}

/** Returns what stands against making the table so; each a sentence. */
export function newTableFaults(made: NewTable): string[] {
  const columns = writtenColumns(made);
  const names = columns.map(({ name }) => name.toLowerCase());
  const twice = [...new Set(columns.filter(({ name }, at) => names.indexOf(name.toLowerCase()) !== at).map(({ name }) => name))];
  return [
    ...(made.catalog === "" || made.schema === "" ? ["Choose a catalog and a schema for the table."] : []),
    ...(made.table === "" ? ["Give the table a name."] : made.table.includes(".") ? ["The name of a table has no dot."] : []),
    ...(columns.length === 0 ? ["Choose a type for at least one field."] : []),
    ...columns.filter(({ name }) => name === "").map(({ field }) => `Give the column of ${field} a name.`),
    ...twice.filter((name) => name !== "").map((name) => `Two columns have the name ${name}. Upper and lower case are the same to many readers.`),
    ...columns.filter(({ type }) => type === "").map(({ field }) => `Choose a type for ${field}. Nested values and times of day have none here: leave them out, or use another client.`),
  ];
}
