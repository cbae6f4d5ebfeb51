import type { JSX } from "preact";
import type { Replica } from "../gateway/admin_answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { clock, count, duration } from "../words/numbers";

const LOOK_EVERY_MS = 5_000;
// A replica reports itself every few seconds.
const SILENT_MS = 15_000;

/** The gateways that share the metrics store, and how many queries are open at each. */
export function Replicas(): JSX.Element {
  const answer = useAnswer(async () => (await get<{ replicas: Replica[] }>("/replicas")).replicas, "replicas", LOOK_EVERY_MS);
  return <Card title="Replicas"><Answered answer={answer}>{(replicas) => <ReplicaLines replicas={replicas} />}</Answered></Card>;
}

function ReplicaLines({ replicas }: { replicas: readonly Replica[] }): JSX.Element {
  const rows = replicas.map((replica) => ({
    key: replica.replicaId,
    cells: [
      <><span class="mono" title={replica.replicaId}>{replica.name}</span>{replica.isThisOne && <span class="soft"> (this one)</span>}</>,
      <span class={`state ${isAlive(replica) ? "SUCCEEDED" : "CANCELED"}`}>{stateOf(replica)}</span>,
      clock(replica.startedAt),
      count(replica.openQueries),
    ],
  }));
  return <Lines label="Replicas" heads={["Replica", "State", "Started", { name: "Open queries", isNumber: true }]} rows={rows} none="This gateway is the only one." />;
}

function isAlive({ silentMs }: Replica): boolean {
  return silentMs !== null && silentMs < SILENT_MS;
}

function stateOf(replica: Replica): string {
  if (replica.silentMs === null) {
    return "has ended";
  }
  return isAlive(replica) ? "alive" : `silent for ${duration(replica.silentMs)}`;
}
