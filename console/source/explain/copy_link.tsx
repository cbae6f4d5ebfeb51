import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const SAID_FOR_MS = 3_000;

interface Props {
  /** Returns the fragment of the address. */
  hash: () => string;
}

/** A button that copies the address of this page; where that is not allowed, the address to copy by hand. */
export function CopyLink({ hash }: Props): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const [byHand, setByHand] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [byHand]);
  useEffect(() => {
    if (!isCopied) {
      return undefined;
    }
    const timer = setTimeout(() => setCopied(false), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    const address = `${location.origin}${location.pathname}${hash()}`;
    // Browsers have a clipboard only for pages that came by TLS, or from this machine.
    const written = navigator.clipboard?.writeText(address) ?? Promise.reject(new Error());
    written.then(
      () => {
        setByHand(null);
        setCopied(true);
      },
      () => setByHand(address),
    );
  };
  return (
    <>
      <button type="button" class="copy-link" onClick={copy}><span aria-live="polite">{isCopied ? "Copied" : "Copy link"}</span></button>
      {byHand !== null && <input class="link-by-hand mono" ref={field} readOnly aria-label="Link to copy by hand" value={byHand} />}
    </>
  );
}
