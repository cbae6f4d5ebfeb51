import type { JSX } from "preact";
import type { RoomProps } from "../page/rooms";
import { hashOf } from "../page/route";
import { Came } from "./came";
import { NewFile } from "./file/new_file";
import { OneIngest } from "./one_ingest";
import { Streams } from "./streams";

const PARTS = [
  { id: "", title: "What came" },
  { id: "streams", title: "Streams" },
  { id: "file", title: "New from a file" },
];

/** What comes into tables: ingests, streams, and files that are dropped here. */
export function Ingest({ login, route }: RoomProps): JSX.Element {
  const part = PARTS.find((each) => each.id === route.id);
  return (
    <div class="operate ingest">
      <h1 class="hidden">Ingest</h1>
      <nav class="sections" aria-label="Parts of this room">
        {PARTS.map((each) => (
          <a href={hashOf("ingest", each.id)} aria-current={each === part ? "page" : undefined}>{each.title}</a>
        ))}
      </nav>
      {part === undefined && <OneIngest key={route.id} ingestId={route.id} />}
      {part?.id === "" && <Came />}
      {part?.id === "streams" && <Streams principal={login.principal} hasAll={login.rights.includes("allQueries")} />}
      {part?.id === "file" && <NewFile />}
    </div>
  );
}
