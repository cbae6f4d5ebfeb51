/** The rooms of the console. A new one is a component and a line here. */

import type { ComponentType } from "preact";
import { Ask } from "../ask/ask";
import { Explain } from "../explain/explain";
import type { Login } from "../gateway/answers";
import type { Route } from "./route";

export interface RoomProps {
  login: Login;
  route: Route;
}

export interface Room {
  name: string;
  title: string;
  content: ComponentType<RoomProps>;
}

export const ROOMS: readonly Room[] = [
  { name: "ask", title: "Ask", content: Ask },
  { name: "explain", title: "Explain", content: Explain },
];
