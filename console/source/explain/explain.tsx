import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { History } from "../ask/history";
import { Progress } from "../ask/progress";
import { type Explanation, isFinal } from "../gateway/answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import type { RoomProps } from "../page/rooms";
import { hashOf } from "../page/route";
import { duration } from "../words/numbers";
import { FilterCards } from "./filter_cards";
import { PlanPicture } from "./plan_picture";
import { Recent } from "./recent";
import { ScanBars } from "./scan_bars";
import { Times } from "./times";

const LOOK_EVERY_MS = 1_000;

/** What a query read of the total, by which filters, in which plan; live until it ends. */
export function Explain({ login, route }: RoomProps): JSX.Element {
  return (
    <div class="explain">
      {route.id === "" ? <><h1>Explain</h1><Recent /></> : <One key={route.id} id={route.id} principal={login.principal} />}
    </div>
  );
}

interface OneProps {
  id: string;
  principal: string;
}

function One({ id, principal }: OneProps): JSX.Element {
  const [isOver, setOver] = useState(false);
  const ask = async (): Promise<Explanation> => {
    const found = await get<Explanation>(`/explain/${encodeURIComponent(id)}`);
    setOver(isFinal(found.state));
    return found;
  };
  const answer = useAnswer(ask, id, isOver ? null : LOOK_EVERY_MS);
  return (
    <>
      <Answered answer={answer}>{(explanation) => <Page explanation={explanation} id={id} principal={principal} />}</Answered>
      {answer.value === null && answer.problem !== null && <p><a href="#/explain">Your newest queries</a></p>}
    </>
  );
}

function Page({ explanation, id, principal }: OneProps & { explanation: Explanation }): JSX.Element {
  // The gateway does not say in which schema a query ran; this browser may have asked it.
  const asked = new History(principal).all().find((each) => each.queryId === id);
  const again = { sql: explanation.sql, catalog: asked?.catalog ?? "", schema: asked?.schema ?? "" };
  const isOver = isFinal(explanation.state);
  return (
    <>
      <header class="head">
        <h1>Explain</h1>
        <span class={`state ${explanation.state}`}>{explanation.state.toLowerCase()}</span>
        <code>{id}</code>
        <a class="button" href={hashOf("ask", "", again)}>Ask it again</a>
      </header>
      <Notes explanation={explanation} />
      {!isOver && <Section title="Progress"><Progress status={{ ...RUNNING, state: explanation.state, progress: explanation.progress, elapsedMs: total(explanation) }} /></Section>}
      <Section title={isOver ? "What was read" : "What is read"}><ScanBars scans={explanation.scans} isOver={isOver} /></Section>
      <Section title="Filters"><FilterCards filters={explanation.filters} scans={explanation.scans} isOver={isOver} /></Section>
      <Section title="Plan"><PlanPicture text={explanation.plans.optimizedPhysical} scans={explanation.scans} /></Section>
      {explanation.rewrites.length > 0 && <Section title="Rewrites"><Rewrites explanation={explanation} /></Section>}
      <Section title="Time"><Times timings={explanation.timings} /></Section>
      <Section title="SQL"><pre tabIndex={0} aria-label="SQL">{explanation.sql}</pre></Section>
      <Folded title="Rewritten SQL" text={explanation.rewrittenSql} />
      <Folded title="Optimized physical plan" text={explanation.plans.optimizedPhysical} />
      <Folded title="Optimized execution plan" text={explanation.plans.execution} />
      <Folded title="Spark's own plans" text={explanation.plans.spark} />
    </>
  );
}

const RUNNING = { queue: null, queuedMs: 0, error: null };

function Notes({ explanation }: { explanation: Explanation }): JSX.Element {
  const { reused, error, traceId } = explanation;
  return (
    <>
      {error !== null && <p class="problem" role="alert"><code>{error.code}</code> <span class="detail">{error.detail}</span></p>}
      {reused !== null && (
        <p class="note">
          Its result is that of <a href={hashOf("explain", reused.from)}>{reused.from}</a>, {duration(reused.ageMs)} old.
        </p>
      )}
      {traceId !== null && <p class="note">Trace <code>{traceId}</code></p>}
    </>
  );
}

function Rewrites({ explanation }: { explanation: Explanation }): JSX.Element {
  return (
    <ul class="rewrites">
      {explanation.rewrites.map((each) => (
        <li><b>{each.rewrite.toLowerCase().replaceAll("_", " ")}</b> {each.table !== null && <span class="mono">{each.table}</span>} <span class="soft">{each.detail}</span></li>
      ))}
    </ul>
  );
}

function Section({ title, children }: { title: string; children: JSX.Element }): JSX.Element {
  return <section class="card"><h2>{title}</h2>{children}</section>;
}

function Folded({ title, text }: { title: string; text: string | null }): JSX.Element | null {
  if (text === null || text === "") {
    return null;
  }
  return <details class="card"><summary>{title}</summary><pre tabIndex={0} aria-label={title}>{text}</pre></details>;
}

function total(explanation: Explanation): number {
  return Object.values(explanation.timings).reduce((sum, ms) => sum + ms, 0);
}
