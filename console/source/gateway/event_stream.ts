/** Opens streams of events. A browser's own `EventSource` has no bound, and does not say why it failed. */

import { EventText, type ServerEvent } from "./event_text";
import { opened, refusal } from "./requests";

// The gateway sends a comment after 15 s of silence, if its operator has not changed that.
const SILENT_FOR_MS = 60_000;

/** Calls back for each event. Resolves when the stream ends, or `signal` ends it; a silent one is refused. */
export async function followStream(path: string, onEvent: (event: ServerEvent) => void, signal: AbortSignal): Promise<void> {
  const silence = new AbortController();
  signal.addEventListener("abort", () => silence.abort(), { once: true, signal: silence.signal });
  let timer = setTimeout(() => silence.abort(), signal.aborted ? 0 : SILENT_FOR_MS);
  try {
    const answer = await opened(path, "text/event-stream", silence.signal);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const text = new EventText();
    for (;;) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) {
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_FOR_MS);
      text.take(piece.value).forEach(onEvent);
    }
  } catch (error) {
    if (!signal.aborted) {
      throw silence.signal.aborted ? refusal("NO_EVENT_IN_TIME", "The gateway has sent nothing for a minute.") : error;
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}
