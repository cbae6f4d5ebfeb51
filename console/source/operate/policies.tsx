import type { JSX } from "preact";
import type { Policies as All, Key, PolicyChanges, RolePolicies } from "../gateway/admin_answers";
import { get } from "../gateway/requests";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Lines } from "../page/lines";
import { clock, counted } from "../words/numbers";
import { Decide } from "./decide";
import { peopleOf } from "./people";

const MOST_CHANGES = 50;
const MOST_KEYS = 1_000;

/** The policies of each role, their history, and what they decide. They are changed by file or by the API. */
export function Policies({ hasKeys }: { hasKeys: boolean }): JSX.Element {
  const policies = useAnswer(() => get<All>("/policies"), "policies");
  const changes = useAnswer(() => get<PolicyChanges>(`/policies/changes?limit=${MOST_CHANGES}`), "changes");
  // Without the right, or while they cannot be read, one asks by roles.
  const keys = useAnswer(async () => (hasKeys ? (await get<{ keys: Key[] }>(`/keys?limit=${MOST_KEYS}`)).keys : []), `keys ${hasKeys}`);
  return (
    <>
      <Card title="What would somebody see?"><Decide roles={Object.keys(policies.value?.roles ?? {})} people={peopleOf(keys.value ?? [], Date.now())} /></Card>
      <Answered answer={policies}>
        {({ version, roles }) => (
          <>
            <p class="note">Version {version}. <code>sluice policies apply</code> changes them.</p>
            {Object.keys(roles).length === 0 && <p class="none">There are no policies yet.</p>}
            {Object.entries(roles).map(([name, role]) => <Card key={name} title={<>Role <span class="mono as-it-is">{name}</span></>}><Role name={name} role={role} /></Card>)}
          </>
        )}
      </Answered>
      <Card title="Changes"><Answered answer={changes}>{(found) => <Changes all={found} />}</Answered></Card>
    </>
  );
}

function Role({ name, role }: { name: string; role: RolePolicies }): JSX.Element {
  const rows = linesOf(role).map(([kind, on, what], at) => ({
    key: `${at}`,
    cells: [kind, <span class="mono">{on}</span>, <span class="mono">{what}</span>],
  }));
  return <Lines label={`Policies of ${name}`} heads={["Kind", "On", "What"]} rows={rows} none="It has none." />;
}

function linesOf(role: RolePolicies): [string, string, string][] {
  return [
    ...role.grants.map(({ tables, actions }): [string, string, string] => ["grant", tables, actions.join(", ")]),
    ...role.denies.map(({ tables, actions }): [string, string, string] => ["denial", tables, actions.join(", ")]),
    ...role.rowFilters.map(({ tables, predicate }): [string, string, string] => ["row filter", tables, predicate]),
    ...role.masks.map(({ tables, column, mask, expression }): [string, string, string] => ["mask", `${tables}: ${column}`, mask ?? expression ?? ""]),
    ...role.definerViews.map(({ view }): [string, string, string] => ["definer of a view", view, ""]),
  ];
}

function Changes({ all }: { all: PolicyChanges }): JSX.Element {
  const rows = all.changes.map((change) => ({
    key: String(change.version),
    cells: [String(change.version), clock(change.changedAt), change.changedBy, sumOf(change.difference.added, "added"), sumOf(change.difference.removed, "removed")],
  }));
  return <Lines label="Changes of policies" heads={["Version", "When", "By", "Added", "Removed"]} rows={rows} none="There were none." />;
}

function sumOf(roles: Record<string, RolePolicies>, verb: string): string {
  const number = Object.values(roles).reduce((sum, role) => sum + linesOf(role).length, 0);
  return number === 0 ? "" : `${counted(number, "line")} ${verb}, of ${Object.keys(roles).join(", ")}`;
}
