/** Reads the text of server-sent events. Source: the HTML standard, "Server-sent events". */

import { refusal } from "./requests";

export interface ServerEvent {
  name: string;
  data: string;
}

// An answer about a query has its scans, and no rows.
const MOST_CHARACTERS = 4_000_000;

/** Takes a stream's text in pieces, as they come, and returns the events that are whole. */
export class EventText {
  private rest = "";
  private name = "";
  private data: string[] = [];
  private characters = 0;

  take(piece: string): ServerEvent[] {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    const found = lines.flatMap((line) => this.line(line.replace(/\r$/, "")));
    if (this.rest.length + this.characters > MOST_CHARACTERS) {
      throw refusal("EVENT_TOO_LARGE", "The gateway sent an event that is too large.");
    }
    return found;
  }

  private line(line: string): ServerEvent[] {
    if (line === "") {
      return this.event();
    }
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") {
      this.name = value;
    } else if (field === "data") {
      this.data.push(value);
      this.characters += value.length;
    }
    return [];
  }

  private event(): ServerEvent[] {
    const found = { name: this.name, data: this.data.join("\n") };
    const isEmpty = this.data.length === 0;
    [this.name, this.data, this.characters] = ["", [], 0];
    return isEmpty ? [] : [found];
  }
}
