/** Reads Thrift's compact protocol, as far as the footer of a Parquet file needs it. */

import { Unreadable } from "./csv_text";

// Kinds of values.
export const [STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT] = [0, 1, 2, 3, 7, 8, 9, 10, 11, 12] as const;
const DEEPEST = 64;

export class Thrift {
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  *fields(): Generator<{ id: number; kind: number }> {
    let id = 0;
    for (;;) {
      const head = this.byte();
      const kind = head & 15;
      if (kind === STOP) {
        return;
      }
      id = head >> 4 === 0 ? this.integer() : id + (head >> 4);
      yield { id, kind };
    }
  }

  list<T>(read: () => T): T[] {
    const head = this.byte();
    const size = head >> 4 === 15 ? this.whole() : head >> 4;
    this.check(size);
    return Array.from({ length: size }, read);
  }

  text(): string {
    const size = this.whole();
    this.check(size);
    this.at += size;
    return new TextDecoder().decode(this.bytes.subarray(this.at - size, this.at));
  }

  integer(): number {
    const whole = this.whole();
    return whole % 2 === 0 ? whole / 2 : -(whole + 1) / 2;
  }

  skip(kind: number, depth = 0): void {
    if (depth > DEEPEST) {
      throw new Unreadable("The footer of this Parquet file is nested too deeply.");
    }
    if (kind === TRUE || kind === FALSE) {
      return;
    }
    if (kind === BYTE) {
      this.byte();
    } else if (kind === DOUBLE) {
      this.check(8);
      this.at += 8;
    } else if (kind === BINARY) {
      this.text();
    } else if (kind === LIST || kind === SET) {
      this.skipList(depth);
    } else if (kind === MAP) {
      this.skipMap(depth);
    } else if (kind === STRUCT) {
      for (const field of this.fields()) {
        this.skip(field.kind, depth + 1);
      }
    } else {
      this.whole();
    }
  }

  private skipList(depth: number): void {
    const kind = (this.bytes[this.at] ?? 0) & 15;
    this.list(() => this.skipEntry(kind, depth));
  }

  private skipMap(depth: number): void {
    const size = this.whole();
    this.check(size);
    const kinds = size === 0 ? 0 : this.byte();
    for (let entry = 0; entry < size; entry += 1) {
      this.skipEntry(kinds >> 4, depth);
      this.skipEntry(kinds & 15, depth);
    }
  }

  // In a field, the kind is the truth value; in a list, it is a byte.
  private skipEntry(kind: number, depth: number): void {
    this.skip(kind === TRUE || kind === FALSE ? BYTE : kind, depth + 1);
  }

  private whole(): number {
    let value = 0;
    let scale = 1;
    for (let place = 0; place < 10; place += 1) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) {
        return value;
      }
      scale *= 128;
    }
    throw new Unreadable("The footer of this Parquet file has a number that is too long.");
  }

  private byte(): number {
    this.check(1);
    this.at += 1;
    return this.bytes[this.at - 1] ?? 0;
  }

  // Each entry takes a byte at least, so no size can be larger than what is left.
  private check(size: number): void {
    if (size > this.bytes.length - this.at) {
      throw new Unreadable("The footer of this Parquet file breaks off.");
    }
  }
}
