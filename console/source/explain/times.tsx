import type { JSX } from "preact";
import type { Explanation } from "../gateway/answers";
import { duration } from "../words/numbers";

const STAGES = [
  ["queuedMs", "waiting"],
  ["parseMs", "parsing"],
  ["detectMs", "finding filters"],
  ["filtersMs", "collecting keys"],
  ["planMs", "planning"],
  ["runMs", "running"],
] as const;

/** The stages of the query, as long as they took. */
export function Times({ timings }: { timings: Explanation["timings"] }): JSX.Element {
  const total = Object.values(timings).reduce((sum, ms) => sum + ms, 0);
  return (
    <div class="times">
      <div class="stages" aria-hidden="true">
        {STAGES.map(([name]) => <div class={`stage ${name}`} style={{ flexGrow: timings[name] }} />)}
      </div>
      <ul class="legend">
        {STAGES.map(([name, title]) => (
          <li><span class={`dot ${name}`} aria-hidden="true" />{title} <b>{duration(timings[name])}</b></li>
        ))}
        <li>together <b>{duration(total)}</b></li>
      </ul>
    </div>
  );
}
