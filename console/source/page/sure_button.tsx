import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../gateway/answers";
import { problemIn } from "../gateway/requests";
import { type Stage, stageAfter } from "./stages";

const ASKS_FOR_MS = 8_000;

interface Props {
  /** What the button does, such as `Revoke`. */
  name: string;
  /** To what it does it, for those who hear the page. */
  what: string;
  /** Resolves when it is done. */
  act: () => Promise<unknown>;
  onDone: () => void;
}

/** A button for what cannot be undone: it asks once whether one is sure, and says why it failed. */
export function SureButton({ name, what, act, onDone }: Props): JSX.Element {
  const [stage, setStage] = useState<Stage>("idle");
  const [problem, setProblem] = useState<Problem | null>(null);
  const isHere = useRef(true);
  useEffect(() => () => { isHere.current = false; }, []);
  useEffect(() => {
    if (stage !== "sure") {
      return undefined;
    }
    const timer = setTimeout(() => setStage("idle"), ASKS_FOR_MS);
    return () => clearTimeout(timer);
  }, [stage]);
  const click = (event: MouseEvent): void => {
    const next = stageAfter(stage, event.detail);
    setStage(next);
    if (next !== "busy") {
      return;
    }
    act().then(
      () => {
        if (isHere.current) {
          setStage("idle");
          setProblem(null);
        }
        onDone();
      },
      (error: unknown) => {
        if (isHere.current) {
          setStage("idle");
          setProblem(problemIn(error));
        }
      },
    );
  };
  return (
    <>
      <button
        type="button"
        class={stage === "idle" ? "small" : "small danger"}
        disabled={stage === "busy"}
        onClick={click}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            setStage("idle");
          } else if (event.repeat) {
            // A key that is held down clicks again and again.
            event.preventDefault();
          }
        }}
      >
        {stage === "sure" ? `${name}: sure?` : stage === "busy" ? "…" : name}<span class="hidden"> {what}</span>
      </button>
      {problem !== null && <p class="error" role="alert"><code>{problem.code}</code> {problem.detail}</p>}
    </>
  );
}
