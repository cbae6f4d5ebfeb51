import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const SAYS_FOR_MS = 2_000;

interface Props {
  /** Makes the text when it is needed. */
  text: () => string;
  title: string;
}

/** A button that copies a text, and says whether the browser let it. */
export function CopyButton({ text, title }: Props): JSX.Element {
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = (): void => {
    const done = (words: string): void => {
      setSaid(words);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setSaid(""), SAYS_FOR_MS);
    };
    // Browsers have a clipboard only for pages that came by TLS, or from this machine.
    const written = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error());
    written.then(() => done("Copied"), () => done("Not allowed"));
  };
  return (
    <button type="button" class="button" title={title} onClick={copy}>
      <span aria-live="polite">{said || "Copy"}</span>
    </button>
  );
}
