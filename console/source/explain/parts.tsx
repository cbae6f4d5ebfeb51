import type { JSX } from "preact";
import { type Explanation, isFinal } from "../gateway/answers";
import { Card } from "../page/card";
import { FilterCards } from "./filter_cards";
import type { Live } from "./following";
import { PlanPicture } from "./plan_picture";
import { ScanBars } from "./scan_bars";
import { Times } from "./times";

/** What was read, by which filters, and in which plan. */
export function Parts({ explanation, live }: { explanation: Explanation; live: Live | null }): JSX.Element {
  const { filters, scans, state, plans, rewrites, timings } = explanation;
  const isOver = isFinal(state);
  const progress = isOver ? undefined : (live?.status.progress ?? explanation.progress)?.scans ?? [];
  const title = state === "PLANNED" ? "What would be read" : isOver ? "What was read" : "What is read";
  return (
    <>
      <Card title={title}><ScanBars scans={scans} progress={progress} isOver={isOver} /></Card>
      <Card title="Filters"><FilterCards filters={filters} scans={scans} isOver={isOver} /></Card>
      <Card title="Plan"><PlanPicture text={plans.optimizedPhysical} scans={scans} progress={progress} /></Card>
      {rewrites.length > 0 && <Card title="Rewrites"><Rewrites rewrites={rewrites} /></Card>}
      <Card title="Time"><Times timings={timings} /></Card>
    </>
  );
}

export function Texts({ explanation }: { explanation: Explanation }): JSX.Element {
  return (
    <>
      <Card title="SQL"><pre tabIndex={0} aria-label="SQL">{explanation.sql}</pre></Card>
      <Folded title="Rewritten SQL" text={explanation.rewrittenSql} />
      <Folded title="Optimized physical plan" text={explanation.plans.optimizedPhysical} />
      <Folded title="Optimized execution plan" text={explanation.plans.execution} />
      <Folded title="Spark's own plans" text={explanation.plans.spark} />
    </>
  );
}

function Rewrites({ rewrites }: Pick<Explanation, "rewrites">): JSX.Element {
  return (
    <ul class="rewrites">
      {rewrites.map((each) => (
        <li><b>{each.rewrite.toLowerCase().replaceAll("_", " ")}</b> {each.table !== null && <span class="mono">{each.table}</span>} <span class="soft">{each.detail}</span></li>
      ))}
    </ul>
  );
}

function Folded({ title, text }: { title: string; text: string | null }): JSX.Element | null {
  if (text === null || text === "") {
    return null;
  }
  return <details class="card"><summary>{title}</summary><pre tabIndex={0} aria-label={title}>{text}</pre></details>;
}
