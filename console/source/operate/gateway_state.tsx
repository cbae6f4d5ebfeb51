import type { JSX } from "preact";
import type { Readiness } from "../gateway/admin_answers";
import { getState, getText } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { count, counted, duration, share, size } from "../words/numbers";
import { CacheLines, Caches, cachesIn } from "./caches";
import { Replicas } from "./replicas";
import { type Samples, labelled, samplesIn, valueOf } from "./exposition";

const LOOK_EVERY_MS = 5_000;

/** The parts of this gateway, its workers, memory, disk and caches. Another replica has numbers of its own. */
export function GatewayState({ hasReplicas, mayEmpty }: { hasReplicas: boolean; mayEmpty: boolean }): JSX.Element {
  const readiness = useAnswer(() => getState<Readiness>("/readyz"), "readyz", LOOK_EVERY_MS);
  const metrics = useAnswer(async () => samplesIn(await getText("/metrics")), "metrics", LOOK_EVERY_MS);
  return (
    <>
      {hasReplicas && <Replicas />}
      <p class="note">All below is of the gateway that answers this page. Other replicas have numbers of their own.</p>
      <Card title="Parts"><Answered answer={readiness}>{(found) => <Parts readiness={found} />}</Answered></Card>
      <Answered answer={metrics}>{(samples) => <Numbers samples={samples} mayEmpty={mayEmpty} />}</Answered>
    </>
  );
}

function Parts({ readiness }: { readiness: Readiness }): JSX.Element {
  const rows = Object.entries(readiness.parts).map(([name, part]) => ({
    key: name,
    cells: [<span class="mono">{name}</span>, <span class={`state ${part.state === "UP" ? "SUCCEEDED" : "FAILED"}`}>{part.state.toLowerCase()}</span>, part.detail],
  }));
  return <Lines label="Parts" heads={["Part", "State", "Why"]} rows={rows} none="No part is known." />;
}

function Numbers({ samples, mayEmpty }: { samples: Samples; mayEmpty: boolean }): JSX.Element {
  return (
    <>
      <Card title="Memory and disk"><Room samples={samples} /></Card>
      <Card title="Workers"><Workers samples={samples} /></Card>
      <Card title="Resource groups"><Groups samples={samples} /></Card>
      <Card title="Caches">{mayEmpty ? <Caches /> : <CacheLines caches={cachesIn(samples)} onDone={() => undefined} />}</Card>
      <Card title="Engine"><Engine samples={samples} /></Card>
    </>
  );
}

function Room({ samples }: { samples: Samples }): JSX.Element {
  const free = valueOf(samples, "sluice_disk_free_bytes");
  const disk = valueOf(samples, "sluice_disk_size_bytes");
  return (
    <dl class="bars">
      <Bar name="Memory" used={valueOf(samples, "sluice_memory_used_bytes")} of={valueOf(samples, "sluice_memory_limit_bytes")} />
      <Bar name="Heap" used={valueOf(samples, "sluice_jvm_memory_used_bytes", { area: "heap" })} of={valueOf(samples, "sluice_jvm_memory_max_bytes", { area: "heap" })} />
      <Bar name="Disk" used={free === null || disk === null ? null : disk - free} of={disk} />
    </dl>
  );
}

function Bar({ name, used, of }: { name: string; used: number | null; of: number | null }): JSX.Element {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <div class="track" aria-hidden="true"><div class="fill" style={{ width: `${share(used ?? 0, of ?? 0)}%` }} /></div>
        <span>{used === null ? "not known" : of === null ? size(used) : `${size(used)} of ${size(of)}`}</span>
      </dd>
    </>
  );
}

function Workers({ samples }: { samples: Samples }): JSX.Element {
  const rows = labelled(samples, "sluice_pool_size", "pool").map((pool) => ({
    key: pool,
    cells: [<span class="mono">{pool}</span>, ...["busy", "size", "waiting"].map((what) => number(valueOf(samples, `sluice_pool_${what}`, { pool })))],
  }));
  return <Lines label="Workers" heads={["Pool", ...["Busy", "Size", "Waiting"].map(numeric)]} rows={rows} none="Not known now." />;
}

function Groups({ samples }: { samples: Samples }): JSX.Element {
  const rows = labelled(samples, "sluice_resource_group_running", "group").map((group) => ({
    key: group,
    cells: [<span class="mono">{group}</span>, ...["running", "queued"].map((what) => number(valueOf(samples, `sluice_resource_group_${what}`, { group })))],
  }));
  return <Lines label="Resource groups" heads={["Group", ...["Running", "Waiting"].map(numeric)]} rows={rows} none="No query has needed one yet." />;
}

function Engine({ samples }: { samples: Samples }): JSX.Element {
  const silentS = valueOf(samples, "sluice_engine_silent_seconds") ?? 0;
  const given = valueOf(samples, "sluice_engine_given_up") ?? 0;
  const replaced = (samples.get("sluice_engine_replaced_total") ?? []).reduce((sum, sample) => sum + sample.value, 0);
  const collecting = valueOf(samples, "sluice_jvm_gc_share");
  const build = samples.get("sluice_build_info")?.[0]?.labels;
  return (
    <p class="facts">
      <span>{engineWords(valueOf(samples, "sluice_engine_up"))}</span>
      {silentS > 0 && <span>silent for {duration(silentS * 1000)}</span>}
      <span>replaced {counted(replaced, "time")}</span>
      {given > 0 && <span>{counted(given, "call")} that nobody waits for</span>}
      {collecting !== null && <span>{Math.round(collecting * 100)}% of the time in garbage collection</span>}
      {build !== undefined && <span>Sluice {build["version"]}, Spark {build["spark"]}, Python {build["python"]}</span>}
    </p>
  );
}

function engineWords(up: number | null): string {
  return up === null ? "Not known whether it answers" : up === 1 ? "It answers" : "It does not answer";
}

function number(value: number | null): string {
  return value === null ? "" : count(value);
}

function numeric(name: string): { name: string; isNumber: true } {
  return { name, isNumber: true };
}
