import type { JSX } from "preact";
import { hashOf } from "../page/route";
import { clock, counted, duration } from "../words/numbers";
import type { Asked } from "./history";

const MOST_SHOWN = 400;

/** The queries of this browser. A click takes one back into the editor. */
export function Past({ all, onPick }: { all: readonly Asked[]; onPick: (asked: Asked) => void }): JSX.Element {
  return (
    <section class="past" aria-labelledby="past-title">
      <h2 id="past-title">History</h2>
      {all.length === 0 ? (
        <p class="none">Queries that you run here are listed here, in this browser alone.</p>
      ) : (
        <ol>
          {all.map((asked) => (
            <li>
              <button type="button" class="past-sql mono" title="Edit it again" onClick={() => onPick(asked)}>
                {asked.sql.replace(/\s+/g, " ").trim().slice(0, MOST_SHOWN)}
              </button>
              <p class="soft">
                <span class={`state ${asked.state}`}>{asked.state.toLowerCase()}</span>
                <span>{clock(asked.at)}</span>
                <span>{duration(asked.elapsedMs)}</span>
                {asked.rowCount !== null && <span>{counted(asked.rowCount, "row")}</span>}
                {asked.queryId !== "" && <a href={hashOf("explain", asked.queryId)}>explain</a>}
              </p>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
