import type { JSX, TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type { AuditEvent } from "../gateway/admin_answers";
import { getText } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { exactClock } from "../words/numbers";
import { eventsIn } from "./audit_lines";

const HOUR_MS = 3_600_000;
const SPANS: readonly [number, string][] = [[1, "last hour"], [24, "last day"], [168, "last 7 days"], [720, "last 30 days"]];
const MOST_LISTED = 500;
const SHOWN_LETTERS = 300;

interface Wanted {
  hours: number;
  principal: string;
  action: string;
  after: string;
}

/** The audit log, page by page, from the first event of a span. */
export function Audit(): JSX.Element {
  const [wanted, setWanted] = useState<Wanted>({ hours: 1, principal: "", action: "", after: "" });
  const answer = useAnswer(async () => eventsIn(await getText(pathOf(wanted))), JSON.stringify(wanted));
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => String(given.get(name)).trim();
    setWanted({ hours: Number(text("hours")), principal: text("principal"), action: text("action").toUpperCase(), after: "" });
    answer.again();
  };
  return (
    <Card title="Audit">
      <form class="fields" onSubmit={submit}>
        <label>Span <select name="hours">{SPANS.map(([hours, words]) => <option value={hours}>{words}</option>)}</select></label>
        <label>Principal <input name="principal" maxLength={255} spellcheck={false} autocomplete="off" placeholder="anyone" /></label>
        <label>Action <input name="action" spellcheck={false} autocomplete="off" placeholder="any, such as QUERY" /></label>
        <button type="submit">Show</button>
      </form>
      <Answered answer={answer}>
        {(events) => (
          <>
            <Events events={events} />
            {events.length === MOST_LISTED && (
              <p><button type="button" onClick={() => setWanted({ ...wanted, after: String(events.at(-1)?.position ?? "") })}>Later ones</button></p>
            )}
          </>
        )}
      </Answered>
    </Card>
  );
}

function pathOf({ hours, principal, action, after }: Wanted): string {
  const since = new Date(Date.now() - hours * HOUR_MS).toISOString();
  const given = Object.entries({ since, principal, action, after }).filter(([, value]) => value !== "");
  return `/audit?${new URLSearchParams([...given, ["limit", String(MOST_LISTED)]])}`;
}

function Events({ events }: { events: readonly AuditEvent[] }): JSX.Element {
  const rows = events.map((event) => ({
    key: String(event.position),
    cells: [
      exactClock(event.at),
      <span class="mono">{event.action}</span>,
      <span class={`state ${event.errorCode === null ? "SUCCEEDED" : "FAILED"}`}>{event.errorCode ?? event.outcome.toLowerCase()}</span>,
      event.principal ?? "",
      event.address ?? "",
      <span class="mono sql">{[event.target ?? "", event.tables.join(", "), event.statement ?? ""].filter((part) => part !== "").join(" · ").slice(0, SHOWN_LETTERS)}</span>,
      event.count > 1 ? `${event.count} ×` : "",
    ],
  }));
  return <Lines label="Audit events" heads={["When", "Action", "Outcome", "Principal", "From", "What", { name: "Times", isNumber: true }]} rows={rows} none="There are none in this span." />;
}
