import type { JSX } from "preact";
import type { Login } from "../gateway/answers";
import { Contained } from "../page/contained";
import type { RoomProps } from "../page/rooms";
import { hashOf } from "../page/route";
import { Audit } from "./audit";
import { Filters } from "./filters";
import { GatewayState } from "./gateway_state";
import { Keys } from "./keys";
import { Policies } from "./policies";
import { OpenQueries } from "./open_queries";
import { SECTIONS, mayOperate, sectionsFor } from "./sections";

/** What runs, what it runs on, and who may do what. */
export function Operate({ login, route }: RoomProps): JSX.Element {
  const sections = sectionsFor(login);
  const wanted = route.id === "" ? "queries" : route.id;
  const section = sections.find((each) => each.name === wanted);
  if (!mayOperate(login)) {
    return <Refused what="This room is for operators and administrators." />;
  }
  return (
    <div class="operate">
      <h1 class="hidden">Operate</h1>
      <nav class="sections" aria-label="Parts of this room">
        {sections.map((each) => (
          <a href={hashOf("operate", each.name)} aria-current={each === section ? "page" : undefined}>{each.title}</a>
        ))}
      </nav>
      {section === undefined ? <Refused what={refusalOf(wanted)} /> : <Contained key={section.name} name={section.title}><Content name={section.name} login={login} /></Contained>}
    </div>
  );
}

function Content({ name, login }: { name: string; login: Login }): JSX.Element {
  switch (name) {
    case "gateway": return <GatewayState hasReplicas={login.rights.includes("replicas")} mayEmpty={login.rights.includes("filters")} />;
    case "filters": return <Filters />;
    case "keys": return <Keys />;
    case "policies": return <Policies hasKeys={login.rights.includes("keys")} />;
    case "audit": return <Audit />;
    default: return <OpenQueries hasAll={login.rights.includes("allQueries")} login={login} />;
  }
}

function Refused({ what }: { what: string }): JSX.Element {
  return (
    <section class="problem" role="alert">
      <p>{what} The gateway does not offer it to you. An administrator can give you the right.</p>
      <p><a href="#/ask">Back to Ask</a></p>
    </section>
  );
}

function refusalOf(name: string): string {
  const section = SECTIONS.find((each) => each.name === name);
  return section === undefined ? "There is no such part." : `“${section.title}” is for administrators.`;
}
