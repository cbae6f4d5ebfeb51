import type { JSX } from "preact";
import type { Cache } from "../gateway/admin_answers";
import { get, remove } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Lines } from "../page/lines";
import { SureButton } from "../page/sure_button";
import { count, share, size } from "../words/numbers";
import { type Samples, labelled, valueOf } from "./exposition";

const LOOK_EVERY_MS = 5_000;
const NUMBERS = ["Entries", "Bytes", "At most", "Found", "Evicted"].map((name) => ({ name, isNumber: true }));

/** The caches of this gateway, each with a button that empties it. */
export function Caches(): JSX.Element {
  const answer = useAnswer(async () => (await get<{ caches: Cache[] }>("/caches")).caches, "caches", LOOK_EVERY_MS);
  return <Answered answer={answer}>{(caches) => <CacheLines caches={caches} onDone={answer.again} />}</Answered>;
}

export function CacheLines({ caches, onDone }: { caches: readonly Cache[]; onDone: () => void }): JSX.Element {
  const rows = caches.map((cache) => ({ key: cache.name, cells: cellsOf(cache, onDone) }));
  return <Lines label="Caches" heads={["Cache", ...NUMBERS, "Empty"]} rows={rows} none="Not known now." />;
}

/** Returns the caches as metrics show them, for those who may not empty one. */
export function cachesIn(samples: Samples): Cache[] {
  return labelled(samples, "sluice_cache_entries", "cache").map((cache) => {
    const value = (name: string, labels: Record<string, string> = {}): number | null => valueOf(samples, name, { cache, ...labels });
    return {
      name: cache,
      entries: value("sluice_cache_entries") ?? 0,
      bytes: value("sluice_cache_bytes") ?? 0,
      maxBytes: value("sluice_cache_max_bytes") ?? 0,
      hits: value("sluice_cache_requests_total", { outcome: "HIT" }),
      misses: value("sluice_cache_requests_total", { outcome: "MISS" }),
      evictions: value("sluice_cache_evictions_total"),
      canBeEmptied: false,
    };
  });
}

function cellsOf(cache: Cache, onDone: () => void): JSX.Element[] {
  const empty = <SureButton name="Empty" what={`the cache ${cache.name}`} act={() => remove(`/caches/${cache.name}`)} onDone={onDone} />;
  return [
    <span class="mono">{cache.name}</span>,
    <>{count(cache.entries)}</>,
    <>{size(cache.bytes)}</>,
    <>{size(cache.maxBytes)}</>,
    <>{foundOf(cache)}</>,
    <>{cache.evictions === null ? "" : count(cache.evictions)}</>,
    cache.canBeEmptied ? empty : <></>,
  ];
}

function foundOf({ hits, misses }: Cache): string {
  const all = (hits ?? 0) + (misses ?? 0);
  return all === 0 ? "" : `${Math.round(share(hits ?? 0, all))}% of ${count(all)}`;
}
