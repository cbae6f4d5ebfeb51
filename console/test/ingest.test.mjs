// Tests what the room Ingest knows of files, dead letters and sums, without a browser: `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../testing/bundled.mjs";

// Both describe the columns id, place (a struct with a list in it) and "ünder <b>".
const FOOTER = "FQQZjDUAGAZzY2hlbWEVBgAVBCUCGAJpZAA1AhgFcGxhY2UVBAAVDCUCGARjaXR5JQBMHAAAADUCGAJhdBUCFQZMPAAAADUEGARsaXN0FQIAFQolAhgHZWxlbWVudAAVDCUCGArDvG5kZXIgPGI+JQBMHAAAABYEGRwZTCYAHBUEGTUABhAZGAJpZBUAFgQWzAEWzAEmRCYIHBgIAgAAAAAAAAAYCAEAAAAAAAAAFgAoCAIAAAAAAAAAGAgBAAAAAAAAABERABksFQQVABUCABUAFRAVAgA8KQYZJgAEAAAAJgAcFQwZNQAGEBkoBXBsYWNlBGNpdHkVABYEFnQWdCb6ASbUARw2AigBYRgBYRERABksFQQVABUCABUAFRAVAgA8FgIZBhk2AgACAAAAJgAcFQoZNQAGEBlIBXBsYWNlAmF0BGxpc3QHZWxlbWVudBUAFgQWzAEWzAEm9AImyAIcGAgAAAAAAAD4PxgIAAAAAAAA+D8WAigIAAAAAAAA+D8YCAAAAAAAAPg/EREAGSwVBBUAFQIAFQAVEBUCADwpJgQAGVYCAAAAAgAAACYAHBUMGTUABhAZGArDvG5kZXIgPGI+FQAWBBZyFnImugQmlAQcNgIoAXgYAXgREQAZLBUEFQAVAgAVABUQFQIAPBYCGQYZJgICAAAAFv4EFgQmCBb+BAAZHBgMQVJST1c6c2NoZW1hGOADLy8vLy8yQUJBQUFRQUFBQUFBQUtBQXdBQmdBRkFBZ0FDZ0FBQUFBQkJBQU1BQUFBQ0FBSUFBQUFCQUFJQUFBQUJBQUFBQU1BQUFEOEFBQUFOQUFBQUFRQUFBQWcvLy8vQUFBQkJSQUFBQUFjQUFBQUJBQUFBQUFBQUFBS0FBQUF3N3h1WkdWeUlEeGlQZ0FBVVAvLy8wei8vLzhBQUFFTkdBQUFBQ0FBQUFBRUFBQUFBZ0FBQUhBQUFBQVVBQUFBQlFBQUFIQnNZV05sQUFBQWdQLy8vM3ovLy84QUFBRU1GQUFBQUJnQUFBQUVBQUFBQVFBQUFCQUFBQUFDQUFBQVlYUUFBS2ovLy8ray8vLy9BQUFCQXhBQUFBQWNBQUFBQkFBQUFBQUFBQUFFQUFBQWFYUmxiUUFBQmdBSUFBWUFCZ0FBQUFBQUFnRFUvLy8vQUFBQkJSQUFBQUFjQUFBQUJBQUFBQUFBQUFBRUFBQUFZMmwwZVFBQUFBQUVBQVFBQkFBQUFCQUFGQUFJQUFZQUJ3QU1BQUFBRUFBUUFBQUFBQUFCQWhBQUFBQWNBQUFBQkFBQUFBQUFBQUFDQUFBQWFXUUFBQWdBREFBSUFBY0FDQUFBQUFBQUFBRkFBQUFBABggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZTBwAABwAABwAABwAAAA=";
const MESSAGE = "EAAAAAAACgAMAAYABQAIAAoAAAAAAQQADAAAAAgACAAAAAQACAAAAAQAAAADAAAA/AAAADQAAAAEAAAAIP///wAAAQUQAAAAHAAAAAQAAAAAAAAACgAAAMO8bmRlciA8Yj4AAFD///9M////AAABDRgAAAAgAAAABAAAAAIAAABwAAAAFAAAAAUAAABwbGFjZQAAAID///98////AAABDBQAAAAYAAAABAAAAAEAAAAQAAAAAgAAAGF0AACo////pP///wAAAQMQAAAAHAAAAAQAAAAAAAAABAAAAGl0ZW0AAAYACAAGAAYAAAAAAAIA1P///wAAAQUQAAAAHAAAAAQAAAAAAAAABAAAAGNpdHkAAAAABAAEAAQAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQIQAAAAHAAAAAQAAAAAAAAAAgAAAGlkAAAIAAwACAAHAAgAAAAAAAABQAAAAA==";
// Of a column of each kind.
const TYPES_FOOTER = "FQQZ/BY1ABgGc2NoZW1hFSQAFQAlAhgBYgAVAiUCGAFpABUCJQIYAXMlIEysExARAAAAFQIlAhgBdSUaTKwTIBIAAAAVBCUCGAJ1bCUcTKwTQBIAAAAVBCUCGAFsABUIJQIYAWYAFQolAhgBZAAVDCUCGAF0JQBMHAAAABUMJQIYAXkAFQ4VCBUCGAFuJQoVBBUSLFwVBBUSAAAAFQIlAhgDZGF5JQxMbAAAABUEJQIYAmF0JRRMjBIcLAAAAAAAFQQlAhgBeiUUTIwRHCwAAAAAABUEJQIYBHRpbWVsfBIcLAAAAAAANQIYBGxpc3QVAhUGTDwAAAA1BBgEbGlzdBUCABUEJQIYB2VsZW1lbnQANQIYAnN0FQIAFQQlAhgBYQAVDCUCGAJsdCUATBwAAAAWAhkcGfwSJgAcFQAZJQYAGRgBYhUAFgIWNBY0JghJHBUAFQAVAgA8KQYZJgACAAAAJgAcFQIZNQAGEBkYAWkVABYCFlwWXCZgJjwpLBUEFQAVAgAVABUQFQIAPCkGGSYAAgAAACYAHBUCGTUABhAZGAFzFQAWAhZcFlwmvAEmmAEpLBUEFQAVAgAVABUQFQIAPCkGGSYAAgAAACYAHBUCGTUABhAZGAF1FQAWAhZcFlwmmAIm9AEpLBUEFQAVAgAVABUQFQIAPCkGGSYAAgAAACYAHBUEGTUABhAZGAJ1bBUAFgIWZBZkJvwCJtACKSwVBBUAFQIAFQAVEBUCADwpBhkmAAIAAAAmABwVBBk1AAYQGRgBbBUAFgIWZBZkJuADJrQDKSwVBBUAFQIAFQAVEBUCADwpBhkmAAIAAAAmABwVCBk1AAYQGRgBZhUAFgIWXBZcJrwEJpgEKSwVBBUAFQIAFQAVEBUCADwpBhkmAAIAAAAmABwVChk1AAYQGRgBZBUAFgIWZBZkJqAFJvQEKSwVBBUAFQIAFQAVEBUCADwpBhkmAAIAAAAmABwVDBk1AAYQGRgBdBUAFgIWXhZeJv4FJtgFKSwVBBUAFQIAFQAVEBUCADwWAhkGGSYAAgAAACYAHBUMGTUABhAZGAF5FQAWAhZeFl4m3AYmtgYpLBUEFQAVAgAVABUQFQIAPBYCGQYZJgACAAAAJgAcFQ4ZNQAGEBkYAW4VABYCFlwWXCa4ByaUByksFQQVABUCABUAFRAVAgA8KQYZJgACAAAAJgAcFQIZNQAGEBkYA2RheRUAFgIWXBZcJpQIJvAHKSwVBBUAFQIAFQAVEBUCADwpBhkmAAIAAAAmABwVBBk1AAYQGRgCYXQVABYCFmQWZCb4CCbMCCksFQQVABUCABUAFRAVAgA8KQYZJgACAAAAJgAcFQQZNQAGEBkYAXoVABYCFmQWZCbcCSawCSksFQQVABUCABUAFRAVAgA8KQYZJgACAAAAJgAcFQQZNQAGEBkYBHRpbWUVABYCFmQWZCbACiaUCiksFQQVABUCABUAFRAVAgA8KQYZJgACAAAAJgAcFQQZNQAGEBk4BGxpc3QEbGlzdAdlbGVtZW50FQAWAhZwFnAmpAsm+AopLBUEFQAVAgAVABUQFQIAPCkmAgAZRgAAAAIAAAAmABwVBBk1AAYQGSgCc3QBYRUAFgIWZBZkJpQMJugLKSwVBBUAFQIAFQAVEBUCADwpBhk2AAACAAAAJgAcFQwZNQAGEBkYAmx0FQAWAhZeFl4m8gwmzAwpLBUEFQAVAgAVABUQFQIAPBYCGQYZJgACAAAAFqINFgImCBaiDQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGfwSHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAHAAAAA==";
const TYPES_MESSAGE = "EAAAAAAACgAMAAYABQAIAAoAAAAAAQQADAAAAAgACAAAAAQACAAAAAQAAAASAAAAmAMAAFADAAAgAwAA8AIAAMQCAACUAgAAZAIAADgCAAAQAgAA6AEAALABAACEAQAAWAEAABgBAADkAAAAhAAAACwAAAAEAAAAwPz//wAAARQQAAAAFAAAAAQAAAAAAAAAAgAAAGx0AACw/P//5Pz//wAAAQ0UAAAAGAAAAAQAAAABAAAAEAAAAAIAAABzdAAA2Pz//wz9//8AAAECEAAAABQAAAAEAAAAAAAAAAEAAABhAAAAQP3//wAAAAFAAAAAOP3//wAAAQwUAAAAHAAAAAQAAAABAAAAFAAAAAQAAABsaXN0AAAAADD9//9k/f//AAABAhAAAAAYAAAABAAAAAAAAAAEAAAAaXRlbQAAAACc/f//AAAAAUAAAACU/f//AAABCRAAAAAYAAAABAAAAAAAAAAEAAAAdGltZQAAAADU////AAACAEAAAADE/f//AAABChAAAAAcAAAABAAAAAAAAAABAAAAegAAAAgADAAGAAgACAAAAAAAAgAEAAAAAwAAAFVUQwAA/v//AAABChAAAAAUAAAABAAAAAAAAAACAAAAYXQAAA7///8AAAIAKP7//wAAAQgQAAAAFAAAAAQAAAAAAAAAAwAAAGRheQA2////AAAAAFD+//8AAAEHEAAAABwAAAAEAAAAAAAAAAEAAABuAAAACAAMAAQACAAIAAAACQAAAAIAAACE/v//AAABBBAAAAAUAAAABAAAAAAAAAABAAAAeQAAAHT+//+o/v//AAABBRAAAAAUAAAABAAAAAAAAAABAAAAdAAAAJj+///M/v//AAABAxAAAAAUAAAABAAAAAAAAAABAAAAZAAAANr///8AAAIA9P7//wAAAQMQAAAAGAAAAAQAAAAAAAAAAQAAAGYABgAIAAYABgAAAAAAAQAg////AAABAhAAAAAUAAAABAAAAAAAAAABAAAAbAAAAFT///8AAAABQAAAAEz///8AAAECEAAAABQAAAAEAAAAAAAAAAIAAAB1bAAA2v///0AAAAB0////AAABAhAAAAAYAAAABAAAAAAAAAABAAAAdQAGAAgABAAGAAAAIAAAAKD///8AAAECEAAAABQAAAAEAAAAAAAAAAEAAABzAAAA1P///wAAAAEQAAAAzP///wAAAQIQAAAAHAAAAAQAAAAAAAAAAQAAAGkAAAAIAAwACAAHAAgAAAAAAAABIAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABBhAAAAAYAAAABAAAAAAAAAABAAAAYgAAAAQABAAEAAAA";
const COLUMNS = [{ name: "id", type: "long" }, { name: "place", type: null }, { name: "ünder <b>", type: "string" }];

const records = (csvRecords, text) => [...csvRecords(text)].map(({ line, values }) => [line, ...values]);

test("CSV is split as the gateway splits it, and values stay as they were written", async () => {
  const { csvRecords, csvWith, unquotedValue } = await rules("ingest/file/csv_text");
  assert.deepEqual(records(csvRecords, 'a,b\r\n1,"x\r\ny, ""z"""\r\n,\n"",5" wide'), [
    [1, "a", "b"],
    [2, "1", '"x\r\ny, ""z"""'],
    [4, "", ""],
    [5, '""', '5" wide'],
  ]);
  assert.deepEqual(['"a""b"', '""', "", "a"].map(unquotedValue), ['a"b', "", null, "a"]);
  const chosen = [{ at: 2, name: 'n"1' }, { at: 0, name: "a" }];
  assert.equal(csvWith('a,b,c\n1,"2,\n3",\n"",5,007', chosen), '"n""1",a\n,1\n007,""\n');
  assert.throws(() => csvWith("a,b,c\n1,2,3\n1,2\n", chosen), /record on line 3 has 2 values/);
  assert.throws(() => records(csvRecords, 'a\n"b\nc'), /begins on line 2, and is never closed/);
});

test("JSON lines keep their digits, and what is no object stays for the gateway", async () => {
  const { membersIn, ndjsonWith } = await rules("ingest/file/ndjson_text");
  assert.deepEqual(membersIn(' {"a" : 9223372036854775807, "b\\u0022":{"c":[1,"}"]},"d":"\\\\" } \r'), [
    { name: "a", value: "9223372036854775807" },
    { name: 'b"', value: '{"c":[1,"}"]}' },
    { name: "d", value: '"\\\\"' },
  ]);
  for (const broken of ["", "[1]", "{", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1} {}', '{"a":"b}', "{a:1}"]) {
    assert.equal(membersIn(broken), null, broken);
  }
  assert.deepEqual(membersIn("{}"), []);
  const names = new Map([["a", "b"], ["b", null]]);
  const text = '{"a":1.10,"b":2,"other":null}\n\nno json\n{"__proto__":1e400}';
  assert.equal(ndjsonWith(text, names), '{"b":1.10,"other":null}\n\nno json\n{"__proto__":1e400}');
  // Long texts are no reason to run out of stack.
  assert.equal(membersIn(`{"a":"${"\\n".repeat(1_000_000)}"}`)?.length, 1);
});

test("the names in files of columns are read from their schemas, and broken ones are refused", async () => {
  const { columnsInFooter } = await rules("ingest/file/parquet_columns");
  const { columnsInMessage } = await rules("ingest/file/arrow_columns");
  const footer = Buffer.from(FOOTER, "base64");
  const message = Buffer.from(MESSAGE, "base64");
  const bufferOf = (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  assert.deepEqual(columnsInFooter(footer), COLUMNS);
  assert.deepEqual(columnsInMessage(bufferOf(message)), COLUMNS);
  for (let length = 0; length < 200; length += 1) {
    // It ends, with names or with a sentence, wherever the bytes break off.
    for (const read of [() => columnsInFooter(footer.subarray(0, length)), () => columnsInMessage(bufferOf(message.subarray(0, length)))]) {
      try {
        assert.ok(Array.isArray(read()));
      } catch (error) {
        assert.match(error.message, /\.$/);
      }
    }
  }
});

test("a file is known by its bytes, and its fields by their first values", async () => {
  const { sniff, sniffText } = await rules("ingest/file/sniff");
  assert.deepEqual(sniffText('id,note\n1,"a, b"\n2,\n', "x.csv", false), {
    format: "CSV",
    fields: [{ name: "id", samples: ["1", "2"], type: "long" }, { name: "note", samples: ["a, b"], type: "string" }],
    isPart: false,
  });
  assert.deepEqual(sniffText('{"id":1}\n{"id":2,"more":null}\n{"id', "x.log", true), {
    format: "NDJSON",
    fields: [{ name: "id", samples: ["1", "2"], type: "long" }, { name: "more", samples: [], type: "string" }],
    isPart: true,
  });
  assert.throws(() => sniffText("a,a\n", "x.csv", false), /names “a” twice/);
  assert.throws(() => sniffText("a,\n", "x.csv", false), /name each column/);
  assert.throws(() => sniffText("[{}]", "x.json", false), /one object on each line/);
  assert.throws(() => sniffText("{}\n", "x.json", false), /object with fields/);
  for (const [bytes, words] of [["ARROW1\0\0", /Arrow stream/], ["\x1f\x8b", /compressed/], ["", /empty/], ["PAR1", /missing/]]) {
    await assert.rejects(sniff(new File([Buffer.from(bytes, "latin1")], "x")), words);
  }
});

test("fields go to columns of their names, and what stands against it is said", async () => {
  const { faultsOf, firstMapping, isIdentity, mapped, writeSchemaOf } = await rules("ingest/file/mapping");
  const table = {
    columns: [{ name: "id", required: true }, { name: "Note", required: false }, { name: "day", required: false }],
    partitionSpec: [{ name: "day", source: "day", transform: "identity" }],
  };
  const sniffed = { format: "CSV", fields: ["NOTE", "id", "other"].map((name) => ({ name, samples: [] })), isPart: false };
  const first = firstMapping(sniffed.fields, table.columns);
  assert.deepEqual([...first], [["NOTE", "Note"], ["id", "id"], ["other", null]]);
  assert.deepEqual(writeSchemaOf(first), ["Note", "id"]);
  assert.deepEqual(faultsOf(first, sniffed, table, 10), ["The table needs the column day."]);
  const chosen = new Map([...first, ["other", "day"]]);
  assert.deepEqual(faultsOf(chosen, sniffed, table, 10), []);
  assert.match(faultsOf(chosen, sniffed, table, 65 * 1024 * 1024).join(), /too large/);
  assert.deepEqual(faultsOf(new Map([["NOTE", "id"], ["id", "id"]]), sniffed, table, 1), ["Two fields go to the column id.", "The table needs the column day."]);
  assert.match(faultsOf(first, { ...sniffed, format: "PARQUET" }, table, 1).join(), /no column NOTE.*no column other/);
  const file = new File(["NOTE,id,other\na,1,2\n"], "x.csv");
  assert.equal(await (await mapped(file, sniffed, chosen)).text(), "Note,id,day\na,1,2\n");
  assert.equal(await (await mapped(file, sniffed, first)).text(), "Note,id\na,1\n");
  const same = new Map([["id", "id"]]);
  assert.ok(isIdentity(same));
  // As it is, even if it is large; without the mark of its encoding.
  assert.equal(await mapped(file, sniffed, same), file);
  const bytes = await (await mapped(new File(["\ufeffid\n1\n"], "x.csv"), sniffed, same)).bytes?.() ?? Buffer.from("id\n1\n");
  assert.equal(Buffer.from(bytes).toString(), "id\n1\n");
});

test("ingests are summed up by table, branch and write schema, and over time", async () => {
  const { SLOTS, grouped } = await rules("ingest/groups");
  const at = (second, ...writes) => ({ acceptedAt: new Date(second * 1000).toISOString(), writes });
  const write = (table, ids, records, state = "COMMITTED") => ({ table, branch: "main", state, writeSchemaColumnIds: ids, records, dataFiles: 1 });
  const { groups, from, until } = grouped([at(99, write("a", [1], 5, "ACCEPTED"), write("b", null, 1, "FAILED")), at(0, write("a", [1], 2), write("a", [1, 2], 3))], 100_000);
  assert.deepEqual(groups.map(({ table, columnIds, ingests, records, waiting, failed }) => [table, columnIds, ingests, records, waiting, failed]), [
    ["a", [1], 2, 7, 1, 0],
    ["a", [1, 2], 1, 3, 0, 0],
    ["b", null, 1, 1, 0, 1],
  ]);
  assert.ok(from <= 0 && until === 100_000);
  assert.deepEqual([groups[0].slots[0], groups[0].slots[SLOTS - 1], groups[0].slots.length], [2, 5, SLOTS]);
  assert.deepEqual(grouped([], 5).groups, []);
});

test("a dead letter is asked for by its ingest, and sent again in its own format", async () => {
  const { deadLettersSql, lettersIn, sentAgain } = await rules("ingest/dead_letter_sql");
  const id = "6f1d2a4e-8c35-4b0f-9a57-3d1c6e20b794";
  const sql = deadLettersSql("lake.a`b.t__dead_letter", id);
  assert.ok(sql.includes("FROM `lake`.`a``b`.`t__dead_letter`\n") && sql.includes(`ingest_id = '${id}'`));
  assert.equal(deadLettersSql("lake.a.t__dead_letter", "x' OR '1'='1"), null);
  const [letter, bytes] = lettersIn([["lake.a.t", "main", "line 2", "bad", "NDJSON", '{"a":1}'], [null, null, null, null, "CSV", null]], "lake.a.t__dead_letter");
  assert.deepEqual([bytes.table, bytes.branch, bytes.payload], ["lake.a.t", "main", null]);
  const again = sentAgain(letter, '{\n  "a": 2\r\n}', { isUpsert: true, equalityFields: ["a,b", "c"] }, id);
  const asked = new URL(again.path, "http://x").searchParams;
  assert.deepEqual([asked.get("table"), asked.get("mode"), asked.get("equalityFields"), asked.get("requestId"), asked.get("writeSchema")], ["lake.a.t", "upsert", '["a,b","c"]', id, "infer"]);
  assert.deepEqual([again.body, again.type], ['{ "a": 2 }', "application/x-ndjson"]);
  const csv = sentAgain({ ...letter, format: "CSV" }, 'a\n"1\n2"\n', { isUpsert: false, equalityFields: [] }, id);
  assert.deepEqual([csv.body, csv.type, new URL(csv.path, "http://x").searchParams.has("mode")], ['a\n"1\n2"\n', "text/csv", false]);
});

test("a form of a stream becomes its definition, and a definition its words", async () => {
  const { sourceWords, streamBody, targetWords } = await rules("ingest/stream_words");
  const fields = { name: "n", kind: "folder", directory: "/in", glob: "", format: "csv", servers: "", topic: "", start: "", table: "lake.a.t", columns: ["a"], interval: "5s", onError: "DEAD_LETTER" };
  assert.deepEqual(streamBody(fields, "id"), {
    requestId: "id", name: "n", source: { directory: "/in", format: "csv" }, table: "lake.a.t", interval: "5s", onError: "DEAD_LETTER", writeSchema: ["a"],
  });
  const kafka = streamBody({ ...fields, kind: "kafka", servers: "h:1", topic: "t", start: "latest", columns: [] }, "id");
  assert.deepEqual(kafka.source, { kafka: { bootstrapServers: "h:1", topic: "t", startingOffsets: "latest" } });
  assert.ok(!("writeSchema" in kafka));
  assert.deepEqual([sourceWords(kafka), sourceWords({ source: { directory: "/in", glob: "*.x" } }), sourceWords({})], ["t at h:1", "/in (*.x)", ""]);
  assert.deepEqual([targetWords(kafka), targetWords({ route: { to: { a: { table: "x" }, "*": { table: "y" }, b: { table: "x" } } } }), targetWords({})], ["lake.a.t", "x, y", ""]);
});

test("what is not UTF-8 is refused, and not written with replaced characters", async () => {
  const { mapped } = await rules("ingest/file/mapping");
  const mapping = new Map([["a", "b"]]);
  for (const [format, text] of [["CSV", "a\nM\xfcnchen\n"], ["NDJSON", '{"a":"M\xfcnchen"}\n']]) {
    const sniffed = { format, fields: [{ name: "a", samples: [] }], isPart: false };
    await assert.rejects(mapped(new File([Buffer.from(text, "latin1")], "x"), sniffed, mapping), /not text in UTF-8/);
    assert.match(await (await mapped(new File([`\ufeff${text}`], "x"), sniffed, mapping)).text(), /^(b\n|\{"b":")München/);
  }
});

test("a CSV whose first column begins with PK is not taken for an archive", async () => {
  const { sniff } = await rules("ingest/file/sniff");
  assert.equal((await sniff(new File(["PK,name\n1,a\n"], "x.csv"))).format, "CSV");
  await assert.rejects(sniff(new File([Buffer.from("PK\x03\x04", "latin1")], "x.zip")), /compressed/);
});

test("a request that is sent again has its first id, also after others", async () => {
  const { RequestIds } = await rules("gateway/request_ids");
  const ids = new RequestIds();
  const first = ids.of(["a", "append"]);
  const second = ids.of(["b", "append"]);
  assert.notEqual(first, second);
  assert.deepEqual([ids.of(["a", "append"]), ids.of(["b", "append"])], [first, second]);
  assert.notEqual(new RequestIds().of(["a", "append"]), first);
});

test("an edited dead letter keeps its line ends, and its way into the table if there was one", async () => {
  const { editedText, keyIdsOf } = await rules("ingest/dead_letter_sql");
  assert.equal(editedText('a\n"1\n3"', 'a\r\n"1\r\n2"'), 'a\r\n"1\r\n3"');
  assert.equal(editedText('a\n"1\n3"', 'a\n"1\n2"'), 'a\n"1\n3"');
  const letter = { table: "lake.a.t", branch: "main" };
  const commit = (...keys) => ({ ...letter, writeTargets: keys.map((ids) => ({ upsert: ids && { equalityFieldIds: ids } })) });
  assert.deepEqual([keyIdsOf([commit([1, 2], [1, 2])], letter), keyIdsOf([commit(null)], letter)], [[1, 2], []]);
  assert.deepEqual([keyIdsOf([commit(null, [1])], letter), keyIdsOf([commit([1], [2])], letter), keyIdsOf([], letter)], [null, null, null]);
  assert.equal(keyIdsOf([{ ...commit([1]), branch: "other" }], letter), null);
});

test("types are guessed from all values that were looked at, and a text takes what has nothing in common", async () => {
  const { TYPES, TypeGuess } = await rules("ingest/file/guess_type");
  const guess = (way, ...values) => {
    const found = new TypeGuess();
    values.forEach((value) => found[way](value));
    return found.type;
  };
  const texts = [
    ["long", "1", "-20", "0"], ["double", "1", "2.50"], ["double", "1e3"], ["string", "007"], ["string", "9223372036854775808"],
    ["string", "1", "a"], ["boolean", "true", "false"], ["string", "true", "1"], ["date", "2026-01-31"], ["string", "2026-01-31", "2026-01-31T00:00:00Z"],
    ["timestamp", "2026-01-31 10:00", "2026-01-31T10:00:00.5"], ["timestamptz", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00+01:00"],
    ["string", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00"], ["string", ""], ["string"],
  ];
  for (const [type, ...values] of texts) {
    assert.equal(guess("seeText", ...values), type, String(values));
    assert.ok(TYPES.includes(type));
  }
  const json = [
    ["long", "1", "null"], ["double", "1", "1.5"], ["string", '"1"'], ["string", "1", '"a"'], ["boolean", "true"], ["date", '"2026-01-31"'],
    ["timestamptz", '"2026-01-31T10:00:00Z"'], [null, "[1]"], [null, "1", '{"a":1}', '"x"'], ["string", "null"],
  ];
  for (const [type, ...values] of json) {
    assert.equal(guess("seeJson", ...values), type, String(values));
  }
});

test("a file that replaces rows says by which columns, and what stands against it", async () => {
  const { APPEND, askedOf, fittedMode, modeFaults } = await rules("ingest/file/file_write");
  const table = {
    columns: [{ name: "id", type: "long" }, { name: "day", type: "date" }, { name: "share", type: "double" }],
    partitionSpec: [{ name: "day", source: "day", transform: "day" }, { name: "old", source: "id", transform: "void" }],
  };
  assert.deepEqual(askedOf("lake.a.t", ["a,b"], APPEND), { table: "lake.a.t", writeSchema: '["a,b"]' });
  const upsert = { isUpsert: true, equalityFields: ["id"] };
  assert.deepEqual(askedOf("lake.a.t", ["id"], upsert), { table: "lake.a.t", writeSchema: '["id"]', mode: "upsert", equalityFields: '["id"]' });
  // Without columns, those of the table count.
  assert.deepEqual(askedOf("lake.a.t", ["id"], { ...upsert, equalityFields: [] }), { table: "lake.a.t", writeSchema: '["id"]', mode: "upsert" });
  assert.deepEqual(fittedMode({ isUpsert: true, equalityFields: ["id", "day"] }, ["day"]).equalityFields, ["day"]);
  assert.deepEqual(modeFaults(APPEND, table), []);
  assert.deepEqual(modeFaults({ ...upsert, equalityFields: [] }, table), []);
  assert.match(modeFaults(upsert, table).join(), /^The table is partitioned by day:/);
  assert.match(modeFaults({ isUpsert: true, equalityFields: ["day", "share"] }, table).join(), /^share is a double/);
});

test("a new table has the chosen columns, and is refused here if it cannot be one", async () => {
  const { askedForNew, newTableFaults, transformsFor } = await rules("ingest/file/file_write");
  const column = (field, name, type, isLeftOut = false) => ({ field, name, type, isLeftOut });
  const made = {
    catalog: "lake", schema: "a", table: "t", partitionBy: "at", transform: "day",
    columns: [column("Id", "id", "long"), column("at", "at", "timestamptz"), column("x", "", "", true)],
  };
  const asked = askedForNew(made);
  assert.equal(asked.table, "lake.a.t");
  assert.deepEqual(JSON.parse(asked.schema), {
    type: "struct",
    fields: [{ id: 1, name: "id", required: false, type: "long" }, { id: 2, name: "at", required: false, type: "timestamptz" }],
  });
  assert.deepEqual(JSON.parse(asked.create), { partitionSpec: [{ source: "at", transform: "day" }] });
  assert.equal(asked.writeSchema, '["id","at"]');
  assert.equal(askedForNew({ ...made, partitionBy: "" }).create, "{}");
  assert.deepEqual(newTableFaults(made), []);
  const faults = newTableFaults({ ...made, schema: "", table: "a.b", columns: [column("a", "A", "long"), column("b", "a", ""), column("c", "", "long")] });
  assert.deepEqual(faults.map((fault) => fault.split(/[.,:]/)[0]), [
    "Choose a catalog and a schema for the table", "The name of a table has no dot", "Give the column of c a name", "Two columns have the name a", "Choose a type for b",
  ]);
  assert.deepEqual(newTableFaults({ ...made, columns: [] }), ["Choose a type for at least one field."]);
  assert.deepEqual([transformsFor("long"), transformsFor("date"), transformsFor("timestamp")], [["identity"], ["identity", "day", "month", "year"], ["identity", "hour", "day", "month", "year"]]);
});

test("the types of a new table are those of a file of columns, where one fits", async () => {
  const { columnsInFooter } = await rules("ingest/file/parquet_columns");
  const { columnsInMessage } = await rules("ingest/file/arrow_columns");
  const wanted = {
    b: "boolean", i: "int", s: "int", u: "long", ul: null, l: "long", f: "float", d: "double", t: "string", y: "binary", n: "decimal(9, 2)",
    day: "date", at: "timestamp", z: "timestamptz", time: null, list: null, st: null, lt: "string",
  };
  const message = Buffer.from(TYPES_MESSAGE, "base64");
  const typed = (columns) => Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  assert.deepEqual(typed(columnsInFooter(Buffer.from(TYPES_FOOTER, "base64"))), wanted);
  assert.deepEqual(typed(columnsInMessage(message.buffer.slice(message.byteOffset, message.byteOffset + message.length))), wanted);
});
