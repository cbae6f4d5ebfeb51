/** Follows one query to its end: by its events; where they cannot come, by asking again and again. */

import { type Progress, type QueryAnswer, type State, type Status, isFinal } from "../gateway/answers";
import { exactJson } from "../gateway/exact_json";
import type { ServerEvent } from "../gateway/event_text";
import { mayRecover, pauseMs } from "../gateway/next_look";
import { problemIn } from "../gateway/requests";
import type { Problem } from "../gateway/answers";

export const MOST_RECONNECTS = 4;
const EVERY_MS = 1_000;

/** What is known of a query that runs. */
export interface Live {
  status: Status;
  /** When `status` was right, by the clock of this browser. */
  at: number;
  isAsking: boolean;
  /** Why nothing more will be known. null: it goes on. */
  problem: Problem | null;
}

/** The gateway, as far as following a query needs it, and the page's own time. */
export interface Source {
  /** Calls back for each event of the query. Resolves when the stream ends, also because the page is hidden. */
  events: (onEvent: (event: ServerEvent) => void, signal: AbortSignal) => Promise<void>;
  status: () => Promise<Status>;
  /** Resolves when somebody can see the page. */
  shown: (signal: AbortSignal) => Promise<void>;
  pause: (ms: number, signal: AbortSignal) => Promise<void>;
  now: () => number;
}

const NOTHING_YET: Status = { state: "QUEUED", queue: null, error: null, queuedMs: 0, elapsedMs: 0, progress: null };

export class Following {
  private readonly left = new AbortController();
  private live: Live;
  private failures = 0;

  constructor(private readonly source: Source, state: State, private readonly onLive: (live: Live) => void) {
    this.live = { status: { ...NOTHING_YET, state }, at: source.now(), isAsking: false, problem: null };
  }

  /** Resolves when the query has ended, nothing more can be known of it, or nobody follows it any more. */
  async run(): Promise<void> {
    while (!this.isOver) {
      await this.source.shown(this.left.signal);
      if (this.isOver) {
        return;
      }
      await this.look();
      if (!this.isOver) {
        await this.source.pause(pauseMs(EVERY_MS, this.failures), this.left.signal);
      }
    }
  }

  /** Stops to follow. The query goes on. */
  leave(): void {
    this.left.abort();
  }

  private get isOver(): boolean {
    return this.left.signal.aborted || this.live.problem !== null || isFinal(this.live.status.state);
  }

  private async look(): Promise<void> {
    this.failures += 1;
    try {
      await (this.live.isAsking ? this.ask() : this.source.events((event) => this.hear(event), this.left.signal));
    } catch (error) {
      this.fail(problemIn(error));
    }
    if (this.failures > MOST_RECONNECTS && !this.live.isAsking) {
      this.askFromNowOn();
    }
  }

  private async ask(): Promise<void> {
    const status = await this.source.status();
    this.failures = 0;
    this.change({ status });
  }

  private hear(event: ServerEvent): void {
    this.failures = 0;
    const data = exactJson(event.data);
    if (event.name === "state") {
      this.change({ status: { ...(data as Omit<Status, "progress">), progress: this.live.status.progress } });
    } else if (event.name === "progress") {
      const progress = data as Progress & { elapsedMs: number };
      this.change({ status: { ...this.live.status, progress, elapsedMs: progress.elapsedMs } });
    } else if (event.name === "done") {
      this.change({ status: (data as QueryAnswer).status });
    }
  }

  private fail(problem: Problem): void {
    const isLost = !mayRecover(problem.status);
    if (this.live.isAsking && isLost) {
      this.change({ problem });
    } else if (isLost || problem.status === 429) {
      // A proxy may pass no streams, and the gateway has places for so many.
      this.askFromNowOn();
    }
  }

  private askFromNowOn(): void {
    if (!this.live.isAsking) {
      this.failures = 0;
      this.change({ isAsking: true });
    }
  }

  private change(part: Partial<Live>): void {
    if (!this.left.signal.aborted) {
      this.live = { ...this.live, ...part, at: this.source.now() };
      this.onLive(this.live);
    }
  }
}
