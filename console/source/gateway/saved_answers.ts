/** Saved queries, as far as the console reads and writes them. */

import { get, post, put, remove } from "./requests";

export interface SavedFields {
  name: string;
  sql: string;
  catalog: string | null;
  schema: string | null;
  shared: boolean;
}

export interface SavedQuery extends SavedFields {
  savedQueryId: string;
  owner: string;
  isOwn: boolean;
  version: number;
  changedAt: string;
}

/** Of each text, a list has the beginning. */
export interface SavedLists {
  own: SavedQuery[];
  others: SavedQuery[];
  hasMore: boolean;
}

interface Page {
  savedQueries: SavedQuery[];
  nextPageToken: string | null;
}

const MOST_LISTED = 100;

/** Lists the queries whose name contains a text: the caller's own, and those that others share. */
export async function listSaved(name: string): Promise<SavedLists> {
  const page = (scope: string): Promise<Page> =>
    get<Page>(`/saved-queries?${new URLSearchParams({ scope, name, limit: String(MOST_LISTED) })}`);
  const [own, others] = await Promise.all([page("OWN"), page("OTHERS")]);
  return {
    own: own.savedQueries,
    others: others.savedQueries,
    hasMore: own.nextPageToken !== null || others.nextPageToken !== null,
  };
}

/** Returns a query with its whole text. */
export function readSaved(savedQueryId: string): Promise<SavedQuery> {
  return get<SavedQuery>(pathOf(savedQueryId));
}

export function saveNew(fields: SavedFields): Promise<SavedQuery> {
  return post<SavedQuery>("/saved-queries", fields);
}

/** Replaces a query, unless somebody has changed it after `version`. */
export function saveAgain(savedQueryId: string, version: number, fields: SavedFields): Promise<SavedQuery> {
  return put<SavedQuery>(pathOf(savedQueryId), fields, { "If-Match": `"${version}"` });
}

/** Shares a query with all callers, or takes that back. Its text stays as it is by now. */
export async function shareSaved(savedQueryId: string, shared: boolean): Promise<SavedQuery> {
  const { name, sql, catalog, schema, version } = await readSaved(savedQueryId);
  return saveAgain(savedQueryId, version, { name, sql, catalog, schema, shared });
}

export function removeSaved(savedQueryId: string): Promise<void> {
  return remove<void>(pathOf(savedQueryId));
}

function pathOf(savedQueryId: string): string {
  return `/saved-queries/${encodeURIComponent(savedQueryId)}`;
}
