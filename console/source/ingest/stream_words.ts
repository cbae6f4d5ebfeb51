/** What a stream reads and writes, in words, and the definition that a form makes. */

export interface StreamFields {
  name: string;
  kind: "folder" | "kafka";
  directory: string;
  glob: string;
  format: string;
  servers: string;
  topic: string;
  start: string;
  table: string;
  columns: readonly string[];
  interval: string;
  onError: string;
}

/** Returns the body of `POST /streams`. Without columns, all columns of the table are written. */
export function streamBody(fields: StreamFields, requestId: string): Record<string, unknown> {
  const source = fields.kind === "kafka"
    ? { kafka: { bootstrapServers: fields.servers, topic: fields.topic, startingOffsets: fields.start } }
    : { directory: fields.directory, format: fields.format, ...(fields.glob !== "" && { glob: fields.glob }) };
  return {
    requestId,
    name: fields.name,
    source,
    table: fields.table,
    interval: fields.interval,
    onError: fields.onError,
    ...(fields.columns.length > 0 && { writeSchema: fields.columns }),
  };
}

export function sourceWords({ source }: Record<string, unknown>): string {
  const { directory, glob, kafka } = objectOf(source);
  if (kafka !== undefined) {
    const { topic, bootstrapServers } = objectOf(kafka);
    return `${textOf(topic)} at ${textOf(bootstrapServers)}`;
  }
  return typeof glob === "string" ? `${textOf(directory)} (${glob})` : textOf(directory);
}

export function targetWords({ table, route }: Record<string, unknown>): string {
  if (typeof table === "string") {
    return table;
  }
  const tables = Object.values(objectOf(objectOf(route)["to"])).map((target) => textOf(objectOf(target)["table"]));
  return [...new Set(tables)].join(", ");
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
