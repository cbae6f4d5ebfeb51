import type { JSX } from "preact";
import type { Replicas as All } from "../gateway/admin_answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { clock, count } from "../words/numbers";
import { isAlive, stateOf } from "./replica_words";

const LOOK_EVERY_MS = 5_000;

/** The gateways that share the metrics store, and how many queries are open at each. */
export function Replicas(): JSX.Element {
  const answer = useAnswer(() => get<All>("/replicas"), "replicas", LOOK_EVERY_MS);
  return <Card title="Replicas"><Answered answer={answer}>{(found) => <ReplicaLines all={found} />}</Answered></Card>;
}

function ReplicaLines({ all }: { all: All }): JSX.Element {
  const rows = all.replicas.map((replica) => ({
    key: replica.replicaId,
    cells: [
      <><span class="mono" title={replica.replicaId}>{replica.name}</span>{replica.isThisOne && <span class="soft"> (this one)</span>}</>,
      <span class={`state ${isAlive(replica, all.lostAfterMs) ? "SUCCEEDED" : "CANCELED"}`}>{stateOf(replica, all.lostAfterMs)}</span>,
      clock(replica.startedAt),
      count(replica.openQueries),
    ],
  }));
  return <Lines label="Replicas" heads={["Replica", "State", "Started", { name: "Open queries", isNumber: true }]} rows={rows} none="This gateway is the only one." />;
}
