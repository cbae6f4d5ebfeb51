/** The rooms of the console. A new one is a component and a line here. */

import type { ComponentType } from "preact";
import { Ask } from "../ask/ask";
import { Explain } from "../explain/explain";
import type { Login } from "../gateway/answers";
import { Ingest } from "../ingest/ingest";
import { Operate } from "../operate/operate";
import { mayOperate } from "../operate/sections";
import { Tables } from "../tables/tables";
import type { Route } from "./route";

export interface RoomProps {
  login: Login;
  route: Route;
}

export interface Room {
  name: string;
  title: string;
  content: ComponentType<RoomProps>;
  /** Whether the room is offered to a caller. Without this, it is for everyone. */
  isFor?: (login: Login) => boolean;
}

export const ROOMS: readonly Room[] = [
  { name: "ask", title: "Ask", content: Ask },
  { name: "explain", title: "Explain", content: Explain },
  { name: "tables", title: "Tables", content: Tables },
  { name: "ingest", title: "Ingest", content: Ingest },
  { name: "operate", title: "Operate", content: Operate, isFor: mayOperate },
];
