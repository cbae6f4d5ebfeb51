import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Stream } from "../gateway/ingest_answers";
import { get, getText, post, remove } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { samplesIn, valueOf } from "../operate/exposition";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { SureButton } from "../page/sure_button";
import { clock, count, duration } from "../words/numbers";
import { NewStream } from "./new_stream";
import { sourceWords, targetWords } from "./stream_words";

const LOOK_EVERY_MS = 5_000;
const LAG_EVERY_MS = 10_000;

/** Streams: what they read and wrote, how far behind they are; stop, resume, and a form for a new one. */
export function Streams({ principal, hasAll }: { principal: string; hasAll: boolean }): JSX.Element {
  const [isOfAll, setOfAll] = useState(false);
  const path = isOfAll && hasAll ? "/streams?principal=*" : "/streams";
  const answer = useAnswer(async () => (await get<{ streams: Stream[] }>(path)).streams, path, LOOK_EVERY_MS);
  return (
    <>
      <Card
        title="Streams"
        tools={hasAll && <label class="choice"><input type="checkbox" checked={isOfAll} onChange={(event) => setOfAll(event.currentTarget.checked)} /><span>Of all callers</span></label>}
      >
        <Lag />
        <Answered answer={answer}>{(streams) => <StreamLines streams={streams} principal={principal} isOfAll={isOfAll} onDone={answer.again} />}</Answered>
      </Card>
      <Card title="New stream"><NewStream onMade={answer.again} /></Card>
    </>
  );
}

/** How far behind the streams of this gateway are. Where its metrics are not for the caller, it says nothing. */
function Lag(): JSX.Element | null {
  const { value, problem } = useAnswer(async () => samplesIn(await getText("/metrics")), "lag", LAG_EVERY_MS);
  if (value === null || problem !== null) {
    return null;
  }
  const [seconds, messages, here] = ["sluice_stream_lag_seconds", "sluice_stream_lag_messages", "sluice_streams_run_here"].map((name) => valueOf(value, name) ?? 0);
  return (
    <p class="facts">
      <span>This gateway runs <b>{count(here ?? 0)}</b></span>
      <span>Longest lag <b>{duration((seconds ?? 0) * 1000)}</b></span>
      <span>Unread in Kafka <b>{count(messages ?? 0)}</b></span>
    </p>
  );
}

function StreamLines({ streams, principal, isOfAll, onDone }: { streams: readonly Stream[]; principal: string; isOfAll: boolean; onDone: () => void }): JSX.Element {
  const rows = streams.map((stream) => ({
    key: stream.streamId,
    cells: [
      <span title={stream.streamId}>{stream.name === "" ? stream.streamId.slice(0, 8) : stream.name}</span>,
      ...(isOfAll ? [stream.principal] : []),
      <span class={`state ${stream.state === "FAILED" ? "FAILED" : stream.state === "STOPPED" ? "CANCELED" : "SUCCEEDED"}`}>{stream.state.toLowerCase()}</span>,
      <span class="mono path">{sourceWords(stream.definition)}</span>,
      targetWords(stream.definition),
      lastWords(stream),
      lagWords(stream),
      count(stream.progress.records),
      count(stream.progress.rejected),
      stream.error === null ? "none" : <span class="error"><code>{stream.error.code}</code> {stream.error.detail}</span>,
      <Acts stream={stream} isOwn={stream.principal === principal} onDone={onDone} />,
    ],
  }));
  const heads = ["Stream", ...(isOfAll ? ["Of"] : []), "State", "Reads", "Writes to", "Last batch", "Behind", { name: "Records", isNumber: true }, { name: "Rejected", isNumber: true }, "Error", "Act"];
  return <Lines label="Streams" heads={heads} rows={rows} none="There are no streams yet." />;
}

function lastWords({ progress, state }: Stream): string {
  if (progress.lastBatchAt === null) {
    return "none yet";
  }
  const ago = Date.now() - Date.parse(progress.lastBatchAt);
  return state === "RUNNING" ? `${duration(Math.max(0, ago))} ago` : clock(progress.lastBatchAt);
}

/** How far behind a stream is, as far as the gateway that answers knows it. */
function lagWords({ lag, state }: Stream): string {
  if (state !== "RUNNING") {
    return "";
  }
  if (lag === null) {
    return "runs elsewhere";
  }
  return lag.messages === null ? duration(lag.lagMs) : `${duration(lag.lagMs)}, ${count(lag.messages)} unread`;
}

/** An administrator may stop any stream. Only its creator may resume it, because it writes for its creator. */
function Acts({ stream, isOwn, onDone }: { stream: Stream; isOwn: boolean; onDone: () => void }): JSX.Element | null {
  const address = `/streams/${encodeURIComponent(stream.streamId)}`;
  const what = stream.name === "" ? stream.streamId : stream.name;
  if (stream.state === "RUNNING") {
    return <SureButton key="stop" name="Stop" what={what} act={() => remove(address)} onDone={onDone} />;
  }
  return !isOwn
    ? null
    : <SureButton key="resume" name="Resume" what={what} act={() => post(`${address}/resume`, {})} onDone={onDone} />;
}
