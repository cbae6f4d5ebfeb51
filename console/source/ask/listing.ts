/** Catalogs, schemas, tables and columns, asked for when they are needed and then kept. */

import type { ListedTable } from "../gateway/answers";
import { get } from "../gateway/requests";

const MOST_PAGES = 20;

interface Page {
  tables: ListedTable[];
  nextPageToken: string | null;
}

export class Listing {
  private readonly asked = new Map<string, Promise<unknown>>();

  catalogs(): Promise<string[]> {
    return this.once("", async () => {
      const answer = await get<{ catalogs: { name: string }[] }>("/catalogs");
      return answer.catalogs.map((each) => each.name);
    });
  }

  schemas(catalog: string): Promise<string[]> {
    return this.once(catalog, async () => {
      const path = `/schemas?${new URLSearchParams({ catalog })}`;
      const answer = await get<{ schemas: { schema: string }[] }>(path);
      return answer.schemas.map((each) => each.schema);
    });
  }

  /** Returns the tables of a schema with their columns. */
  tables(catalog: string, schema: string): Promise<ListedTable[]> {
    return this.once(`${catalog}\n${schema}`, () => allPages(catalog, schema));
  }

  /** Forgets everything, so that it is asked for again. */
  forget(): void {
    this.asked.clear();
  }

  private once<T>(name: string, ask: () => Promise<T>): Promise<T> {
    const known = this.asked.get(name) as Promise<T> | undefined;
    if (known !== undefined) {
      return known;
    }
    const asked = ask();
    this.asked.set(name, asked);
    // A failure is not kept: the next use asks again.
    asked.catch(() => this.asked.delete(name));
    return asked;
  }
}

async function allPages(catalog: string, schema: string): Promise<ListedTable[]> {
  const found: ListedTable[] = [];
  let token: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const values: Record<string, string> = { catalog, schema, columns: "true" };
    const asked = new URLSearchParams(token === null ? values : { ...values, pageToken: token });
    const answer: Page = await get<Page>(`/tables?${asked}`);
    found.push(...answer.tables);
    token = answer.nextPageToken;
    if (token === null) {
      break;
    }
  }
  return found;
}
