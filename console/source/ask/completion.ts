/** Completes names of catalogs, schemas, tables and columns at a place in SQL. */

import { type Completion, type CompletionContext, type CompletionResult, pickedCompletion } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";
import type { ListedTable } from "../gateway/answers";
import { FUNCTION_NAMES } from "./function_names";
import type { Listing } from "./listing";

export interface Place {
  catalog: string;
  schema: string;
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NAME = "(?:`[^`]*`|[A-Za-z_][A-Za-z0-9_]*)";
const PATH_BEFORE = new RegExp(`(?:${NAME}\\.)*(?:\`[^\`]*|[A-Za-z0-9_]*)$`);
const MENTION = new RegExp(`\\b(?:from|join)\\s+(${NAME}(?:\\.${NAME})*)(?:\\s+(?:as\\s+)?(?!on\\b|where\\b|join\\b|left\\b|right\\b|inner\\b|cross\\b|full\\b|group\\b|order\\b|limit\\b|using\\b|union\\b|version\\b)(${NAME}))?`, "gi");

/** A table that the text names, with the alias that it has there. */
export interface Mention {
  path: string[];
  alias: string | null;
}

export function mentionsIn(sql: string): Mention[] {
  return [...sql.matchAll(MENTION)].map((found) => ({
    path: partsOf(found[1] ?? ""),
    alias: found[2] === undefined ? null : unquoted(found[2]),
  }));
}

export function partsOf(path: string): string[] {
  return (path.match(/`[^`]*`?|[^.`]+/g) ?? []).map(unquoted);
}

/** Makes the source of completions for an editor whose names stand in `place()`. */
export function completionOf(listing: Listing, place: () => Place) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const line = context.state.doc.lineAt(context.pos);
    const before = PATH_BEFORE.exec(line.text.slice(0, context.pos - line.from))?.[0] ?? "";
    if (before === "" && !context.explicit) {
      return null;
    }
    const typed = /(?:`[^`]*|[A-Za-z0-9_]*)$/.exec(before)?.[0] ?? "";
    const path = partsOf(before.slice(0, before.length - typed.length));
    const names = await optionsFor(path, context.state.doc.toString(), place(), listing);
    // All functions at once would hide the names of tables and columns.
    const options = path.length === 0 && /^[A-Za-z_]/.test(typed) ? [...names, ...CALLS] : names;
    return { from: context.pos - typed.length, options, validFor: /^`?[A-Za-z0-9_]*$/ };
  };
}

const CALLS: readonly Completion[] = FUNCTION_NAMES.map(({ name, says }) => ({ label: name, type: "function", detail: "function", info: says, boost: -1, apply: call }));

/** Writes the call of a function, and moves into its parentheses. */
function call(view: EditorView, completion: Completion, from: number, to: number): void {
  const isOpen = view.state.sliceDoc(to, to + 1) === "(";
  const insert = isOpen ? completion.label : `${completion.label}()`;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + completion.label.length + 1 },
    annotations: pickedCompletion.of(completion),
    userEvent: "input.complete",
  });
}

async function optionsFor(path: string[], sql: string, place: Place, listing: Listing): Promise<Completion[]> {
  try {
    return path.length === 0
      ? await atTheStart(sql, place, listing)
      : [...(await columnsAfter(path, sql, place, listing)), ...(await namesAfter(path, place, listing))];
  } catch {
    // A part that is down has no names to offer.
    return [];
  }
}

async function atTheStart(sql: string, place: Place, listing: Listing): Promise<Completion[]> {
  const mentioned = await Promise.all(mentionsIn(sql).map((each) => tableOf(each.path, place, listing)));
  const [catalogs, schemas, tables] = await Promise.all([
    listing.catalogs(),
    place.catalog === "" ? [] : listing.schemas(place.catalog),
    place.schema === "" ? [] : listing.tables(place.catalog, place.schema),
  ]);
  return [
    ...mentioned.flatMap((table) => (table === null ? [] : columns(table, 3))),
    ...tables.map((table) => named(table.table, "class", table.kind.toLowerCase(), 2)),
    ...schemas.map((schema) => named(schema, "namespace", "schema", 1)),
    ...catalogs.map((catalog) => named(catalog, "namespace", "catalog", 1)),
  ];
}

async function columnsAfter(path: string[], sql: string, place: Place, listing: Listing): Promise<Completion[]> {
  const last = path[path.length - 1]?.toLowerCase();
  const found = mentionsIn(sql).find((each) => {
    const name = each.alias ?? each.path[each.path.length - 1];
    return path.length === 1 && name?.toLowerCase() === last;
  });
  const table = await tableOf(found?.path ?? path, place, listing);
  return table === null ? [] : columns(table, 3);
}

async function namesAfter(path: string[], place: Place, listing: Listing): Promise<Completion[]> {
  const [first = "", second] = path;
  const catalogs = await listing.catalogs();
  if (path.length === 1 && catalogs.includes(first)) {
    return (await listing.schemas(first)).map((schema) => named(schema, "namespace", "schema", 1));
  }
  const [catalog, schema] = second === undefined ? [place.catalog, first] : [first, second];
  if (path.length > 2 || !catalogs.includes(catalog) || !(await listing.schemas(catalog)).includes(schema)) {
    return [];
  }
  return (await listing.tables(catalog, schema)).map((table) => named(table.table, "class", table.kind.toLowerCase(), 2));
}

async function tableOf(path: string[], place: Place, listing: Listing): Promise<ListedTable | null> {
  const table = path[path.length - 1];
  const schema = path[path.length - 2] ?? place.schema;
  const catalog = path[path.length - 3] ?? place.catalog;
  if (table === undefined || schema === "" || !(await listing.catalogs()).includes(catalog)) {
    return null;
  }
  if (!(await listing.schemas(catalog)).includes(schema)) {
    return null;
  }
  const tables = await listing.tables(catalog, schema);
  return tables.find((each) => each.table.toLowerCase() === table.toLowerCase()) ?? null;
}

function columns(table: ListedTable, boost: number): Completion[] {
  return (table.columns ?? []).map((column) => named(column.name, "property", column.type, boost));
}

function named(name: string, type: string, detail: string, boost: number): Completion {
  return { label: name, apply: quoted(name), type, detail, boost };
}

/** Returns the name as SQL has it. */
export function quoted(name: string): string {
  return PLAIN.test(name) ? name : `\`${name.replaceAll("`", "``")}\``;
}

function unquoted(name: string): string {
  return name.startsWith("`") ? name.replace(/^`|`$/g, "") : name;
}
