/** One question that is asked again and again, while somebody can see the answer. */

import type { Problem } from "./answers";
import { mayRecover, pauseMs } from "./next_look";
import { problemIn } from "./requests";

export class Looking<T> {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private isAsking = false;
  private isRefused = false;
  private isOver = false;

  constructor(
    private readonly ask: () => Promise<T>,
    private readonly everyMs: number | null,
    private readonly onValue: (value: T) => void,
    private readonly onProblem: (problem: Problem) => void,
  ) {}

  start(): void {
    document.addEventListener("visibilitychange", this.shown);
    void this.look();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.shown);
  }

  private readonly shown = (): void => {
    clearTimeout(this.timer);
    if (!document.hidden && this.everyMs !== null && !this.isRefused) {
      void this.look();
    }
  };

  private async look(): Promise<void> {
    if (this.isAsking || this.isOver) {
      return;
    }
    this.isAsking = true;
    try {
      const found = await this.ask();
      this.failures = 0;
      if (!this.isOver) {
        this.onValue(found);
      }
    } catch (error) {
      const problem = problemIn(error);
      this.failures += 1;
      this.isRefused = !mayRecover(problem.status);
      if (!this.isOver) {
        this.onProblem(problem);
      }
    }
    this.isAsking = false;
    if (!this.isRefused && this.everyMs !== null && !this.isOver && !document.hidden) {
      this.timer = setTimeout(() => void this.look(), pauseMs(this.everyMs, this.failures));
    }
  }
}
