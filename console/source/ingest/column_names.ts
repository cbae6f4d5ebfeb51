/** The names of columns that write schemas have by their ids. */

import { useEffect, useState } from "preact/hooks";
import { get } from "../gateway/requests";
import type { TableAnswer } from "../gateway/table_answers";

const MOST_TABLES = 20;
const MOST_NAMED = 8;

export type ColumnNames = ReadonlyMap<string, ReadonlyMap<number, string>>;

/** Asks for the columns of tables, once each. A table that cannot be asked for has no names. */
export function useColumnNames(tables: readonly string[]): ColumnNames {
  const [known, setKnown] = useState<ColumnNames>(new Map());
  const wanted = [...new Set(tables)].sort().slice(0, MOST_TABLES);
  useEffect(() => {
    let isLeft = false;
    const missing = wanted.filter((table) => !known.has(table));
    void Promise.all(missing.map(async (table) => [table, await namesOf(table)] as const)).then((found) => {
      if (!isLeft && found.length > 0) {
        setKnown((before) => new Map([...before, ...found]));
      }
    });
    return () => {
      isLeft = true;
    };
  }, [wanted.join("\n")]);
  return known;
}

async function namesOf(table: string): Promise<ReadonlyMap<number, string>> {
  try {
    const { columns } = await get<TableAnswer>(`/tables/${encodeURIComponent(table)}`);
    return new Map(columns.map((column) => [column.fieldId, column.name]));
  } catch {
    return new Map();
  }
}

/** Says which columns a write schema has; at most some of them by name. */
export function schemaWords(table: string, ids: readonly number[] | null, names: ColumnNames): string {
  if (ids === null) {
    return "all columns";
  }
  const known = names.get(table);
  const shown = ids.slice(0, MOST_NAMED).map((id) => known?.get(id) ?? `column ${id}`);
  return ids.length > MOST_NAMED ? `${shown.join(", ")} and ${ids.length - MOST_NAMED} more` : shown.join(", ");
}
