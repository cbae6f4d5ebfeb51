/** Numbers as people read them. */

const UNITS = ["kB", "MB", "GB", "TB", "PB"];

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

export function counted(number: number, noun: string, nouns = `${noun}s`): string {
  return `${count(number)} ${number === 1 ? noun : nouns}`;
}

export function size(bytes: number): string {
  if (bytes < 1000) {
    return `${bytes} B`;
  }
  let scaled = bytes / 1000;
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
export function share(selected: number, total: number): number {
  return total <= 0 ? 0 : Math.min(100, (selected / total) * 100);
}

export function clock(moment: string | number): string {
  return new Date(moment).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
