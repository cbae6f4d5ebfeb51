/** The queries of this browser, newest first. They are kept in it until the user logs out. */

const MOST = 100;

export interface Asked {
  sql: string;
  catalog: string;
  schema: string;
  at: number;
  queryId: string;
  state: string;
  elapsedMs: number;
  rowCount: number | null;
}

export class History {
  private readonly name: string;

  constructor(principal: string) {
    this.name = `sluice.history.${principal}`;
  }

  all(): Asked[] {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.name) ?? "[]");
      return Array.isArray(kept) ? (kept as Asked[]) : [];
    } catch {
      return [];
    }
  }

  add(asked: Asked): void {
    const others = this.all().filter((each) => each.queryId !== asked.queryId);
    this.keep([asked, ...others].slice(0, MOST));
  }

  clear(): void {
    localStorage.removeItem(this.name);
  }

  private keep(all: Asked[]): void {
    try {
      localStorage.setItem(this.name, JSON.stringify(all));
    } catch {
      // The browser has no room: the newest queries are worth more than all.
      localStorage.setItem(this.name, JSON.stringify(all.slice(0, 10).filter((each) => each.sql.length < 10_000)));
    }
  }
}
