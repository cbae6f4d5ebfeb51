/** One run of a query: sends it, follows it to its end, and reads its rows as they are needed. */

import { type Chunk, type Problem, type QueryAnswer, type Row, isFinal } from "../gateway/answers";
import { newId } from "../gateway/new_id";
import { get, post, problemIn, remove } from "../gateway/requests";

const LOOK_EVERY = "1s";
// More would be higher than some browsers can scroll.
export const MOST_LOADED = 500_000;

export interface Question {
  sql: string;
  catalog: string;
  schema: string;
  parameters: Record<string, unknown>;
  takesAll: boolean;
}

export interface Run {
  question: Question;
  startedAt: number;
  answer: QueryAnswer | null;
  rows: Row[];
  next: string | null;
  problem: Problem | null;
  isLoading: boolean;
}

type Changed = (run: Run) => void;

/** Runs one question. Each change is a new value, so that the page can tell what to draw again. */
export class Running {
  private run: Run;
  private readonly requestId = newId();
  private isLeft = false;

  constructor(question: Question, private readonly onChange: Changed) {
    this.run = { question, startedAt: Date.now(), answer: null, rows: [], next: null, problem: null, isLoading: false };
  }

  get isOver(): boolean {
    return this.run.problem !== null || (this.run.answer !== null && isFinal(this.run.answer.status.state));
  }

  async start(): Promise<void> {
    this.change({});
    try {
      await this.follow(await post<QueryAnswer>("/query", this.body()));
    } catch (error) {
      this.change({ problem: problemIn(error) });
    }
  }

  /** Asks for the end of the query. It ends a moment later. */
  async cancel(): Promise<void> {
    try {
      await remove(`/query?${new URLSearchParams({ requestId: this.requestId })}`);
    } catch (error) {
      // It may have ended just now, which its own answer says.
      if (!this.isOver) {
        this.change({ problem: problemIn(error) });
      }
    }
  }

  /** Stops to follow: the page shows another run. */
  leave(): void {
    this.isLeft = true;
  }

  /** Loads the next rows, unless all are here, or they are on their way. */
  async load(): Promise<void> {
    const { next, isLoading, rows } = this.run;
    if (next === null || isLoading || rows.length >= MOST_LOADED) {
      return;
    }
    this.change({ isLoading: true });
    try {
      const chunk = await get<Chunk>(next);
      this.change({ rows: [...rows, ...chunk.rows], next: chunk.nextChunkLink, isLoading: false });
    } catch (error) {
      this.change({ problem: problemIn(error), isLoading: false });
    }
  }

  private body(): Record<string, unknown> {
    const { sql, catalog, schema, parameters, takesAll } = this.run.question;
    return {
      sql,
      parameters,
      catalog: catalog || null,
      schema: schema || null,
      waitTimeout: "0s",
      requestId: this.requestId,
      rowLimit: takesAll ? "MAX" : null,
      tags: { from: "console" },
    };
  }

  private async follow(first: QueryAnswer): Promise<void> {
    let answer = first;
    while (!isFinal(answer.status.state) || (answer.status.state === "SUCCEEDED" && answer === first)) {
      this.change({ answer });
      answer = await get<QueryAnswer>(`/query/${answer.queryId}?waitTimeout=${LOOK_EVERY}&format=JSON`);
      if (this.isLeft) {
        return;
      }
    }
    const { result, status } = answer;
    const problem = status.state !== "FAILED" || status.error === null ? null : { title: "", status: 0, ...status.error };
    this.change({ answer, problem, rows: result?.rows ?? [], next: result?.nextChunkLink ?? null });
  }

  private change(part: Partial<Run>): void {
    this.run = { ...this.run, ...part };
    if (!this.isLeft) {
      this.onChange(this.run);
    }
  }
}
