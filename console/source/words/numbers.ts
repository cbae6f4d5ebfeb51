/** Numbers as people read them. */

import type { Whole } from "../gateway/answers";

const UNITS = ["kB", "MB", "GB", "TB", "PB"];

export function count(number: Whole): string {
  return number.toLocaleString("en-US");
}

export function counted(number: Whole, noun: string, nouns = `${noun}s`): string {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

/** Counts a list that has at most so many entries: one that is full may have left out others. */
export function atLeast(number: number, most: number, noun: string, nouns = `${noun}s`): string {
  return number < most ? counted(number, noun, nouns) : `${count(number)} or more ${nouns}`;
}

export function size(bytes: Whole): string {
  if (bytes < 1000) {
    return `${bytes} B`;
  }
  let scaled = Number(bytes) / 1000;
  let unit = 0;
  while (scaled >= 1000 && unit < UNITS.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  return `${scaled.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

export function duration(ms: number): string {
  if (ms < 1000) {
    return `${Math.round(ms)} ms`;
  }
  const seconds = ms / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** The share that was selected, from 0 to 100. */
export function share(selected: Whole, total: Whole): number {
  return total <= 0 ? 0 : Math.min(100, (Number(selected) / Number(total)) * 100);
}

export function clock(moment: string | number): string {
  return new Date(moment).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** A moment with its seconds and the time zone of this browser, for what is compared with other logs. */
export function exactClock(moment: string): string {
  return new Date(moment).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
}
