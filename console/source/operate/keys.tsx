import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Key, MadeKey } from "../gateway/admin_answers";
import { get, remove } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { SureButton } from "../page/sure_button";
import { clock } from "../words/numbers";
import { NewKey } from "./new_key";

const MOST_LISTED = 1_000;

/** API keys: all of them without their secrets, and new ones with theirs, once. */
export function Keys(): JSX.Element {
  const answer = useAnswer(async () => (await get<{ keys: Key[] }>(`/keys?limit=${MOST_LISTED}`)).keys, "keys");
  const [made, setMade] = useState<MadeKey | null>(null);
  const onMade = (key: MadeKey): void => {
    setMade(key);
    answer.again();
  };
  return (
    <>
      <Card title="New key">
        {made === null ? <NewKey onMade={onMade} onFailed={answer.again} /> : <Secret made={made} onSeen={() => setMade(null)} />}
      </Card>
      <Card title="Keys"><Answered answer={answer}>{(keys) => <KeyLines keys={keys} onDone={answer.again} />}</Answered></Card>
    </>
  );
}

function Secret({ made, onSeen }: { made: MadeKey; onSeen: () => void }): JSX.Element {
  const [words, setWords] = useState("Copy");
  const copy = (): void => {
    // Browsers have a clipboard only for pages that came by TLS, or from this machine.
    const written = navigator.clipboard?.writeText(made.key) ?? Promise.reject(new Error());
    written.then(() => setWords("Copied"), () => setWords("Copy it by hand"));
  };
  return (
    <div class="secret" role="status">
      <p>The key of <b>{made.principal}</b>. It is shown only now: nobody can look it up later.</p>
      <p><code tabIndex={0}>{made.key}</code></p>
      <p class="row"><button type="button" onClick={copy}><span aria-live="polite">{words}</span></button><button type="button" class="primary" onClick={onSeen}>I have it</button></p>
    </div>
  );
}

function KeyLines({ keys, onDone }: { keys: readonly Key[]; onDone: () => void }): JSX.Element {
  const rows = keys.map((key) => ({
    key: key.keyId,
    cells: [
      <span class="mono">{key.keyId}</span>,
      key.principal,
      key.roles.join(", "),
      key.description,
      <span title={`by ${key.createdBy}`}>{clock(key.createdAt)}</span>,
      key.lastUsedAt === null ? "never" : clock(key.lastUsedAt),
      key.expiresAt === null ? "never" : clock(key.expiresAt),
      key.revokedAt === null ? (
        <SureButton name="Revoke" what={`key ${key.keyId} of ${key.principal}`} act={() => remove(`/keys/${key.keyId}`)} onDone={onDone} />
      ) : (
        <span class="soft" title={clock(key.revokedAt)}>revoked by {key.revokedBy ?? "somebody"}</span>
      ),
    ],
  }));
  return <Lines label="Keys" heads={["Key", "Principal", "Roles", "Description", "Created", "Last used", "Expires", "Revoke"]} rows={rows} none="There are no keys yet." />;
}
