import type { JSX } from "preact";
import { get } from "../gateway/requests";
import type { Maintenances, TableAnswer } from "../gateway/table_answers";
import { useAnswer } from "../gateway/use_answer";
import { Answered } from "../page/answered";
import { Card } from "../page/card";
import { Contained } from "../page/contained";
import { hashOf } from "../page/route";
import { count, counted, size } from "../words/numbers";
import { showsCounts } from "./advice";
import { AdviceCard } from "./advice_card";
import { ColumnsCard } from "./columns_card";
import { FilesCard, PartitionsCard } from "./files_cards";
import { MaintenanceCard } from "./maintenance_card";
import { sqlName } from "./metadata_sql";
import { PruningCard } from "./pruning_card";
import { SnapshotsCard } from "./snapshots_card";

// Which columns are clustered is found in the background, and a commit changes the rest.
const LOOK_EVERY_MS = 30_000;
const MAINTENANCE_EVERY_MS = 5_000;

/** One table or view, as its catalog describes it now. */
export function TablePage({ name }: { name: string }): JSX.Element {
  const path = `/tables/${encodeURIComponent(name)}`;
  const answer = useAnswer(() => get<TableAnswer>(path), path, LOOK_EVERY_MS);
  return (
    <>
      <h1 class="table-name mono">{name}</h1>
      <Answered answer={answer}>{(table) => <Parts table={table} path={path} />}</Answered>
    </>
  );
}

function Parts({ table, path }: { table: TableAnswer; path: string }): JSX.Element {
  const isIceberg = table.source === "ICEBERG";
  return (
    <>
      <Contained name="Facts"><Facts table={table} /></Contained>
      <Contained name="Columns"><ColumnsCard table={table} /></Contained>
      <Contained name="Layout"><LayoutCard table={table} /></Contained>
      <Contained name="Pruning"><PruningCard table={table} /></Contained>
      {isIceberg && <IcebergParts table={table} path={path} />}
    </>
  );
}

function IcebergParts({ table, path }: { table: TableAnswer; path: string }): JSX.Element {
  const address = `${path}/maintenance`;
  const maintenances = useAnswer(() => get<Maintenances>(address), address, MAINTENANCE_EVERY_MS);
  return (
    <>
      <Contained name="Advice"><AdviceCard name={table.name} address={address} maintenances={maintenances} /></Contained>
      {table.partitionSpec.length > 0 && <Contained name="Partitions"><PartitionsCard table={table} /></Contained>}
      <Contained name="Files"><FilesCard table={table} /></Contained>
      <Contained name="Snapshots"><SnapshotsCard table={table} /></Contained>
      <Contained name="Maintenance"><MaintenanceCard address={address} answer={maintenances} /></Contained>
    </>
  );
}

function Facts({ table }: { table: TableAnswer }): JSX.Element {
  const ask = { sql: `SELECT *\nFROM ${sqlName(table)}\nLIMIT 100`, catalog: table.catalog, schema: table.schema };
  return (
    <>
      {table.comment !== null && table.comment !== "" && <p class="comment">{table.comment}</p>}
      <p class="facts">{factsOf(table).map((fact) => <span>{fact}</span>)}</p>
      {table.location !== "" && <p class="note mono location">{table.location}</p>}
      <p class="head-tools"><a class="button" href={hashOf("ask", "", ask)}>Show some rows</a></p>
    </>
  );
}

function factsOf(table: TableAnswer): string[] {
  const source = { ICEBERG: `Iceberg, version ${table.formatVersion}`, FILES: "Folders of files", OTHER: "Read by Spark alone" }[table.source];
  if (!showsCounts(table)) {
    return [source, "Numbers of rows, files and bytes are not known, or are shown only to who sees every row"];
  }
  return [source, rowsOf(table), counted(table.dataFileCount, "data file"), size(table.totalBytes)];
}

function rowsOf({ recordCount, recordCountAtMost }: TableAnswer): string {
  if (recordCount !== null) {
    return counted(recordCount, "row");
  }
  return recordCountAtMost === null ? "number of rows not known" : `at most ${count(recordCountAtMost)} rows`;
}

function LayoutCard({ table }: { table: TableAnswer }): JSX.Element {
  const partitions = table.partitionSpec.map((field) => ({ key: field.name, text: `${field.transform}(${field.source})`, name: field.name }));
  const order = table.sortOrder.map((field) => `${field.transform === "identity" ? field.source : `${field.transform}(${field.source})`} ${field.direction} ${field.nullOrder}`);
  return (
    <Card title="Layout">
      <dl class="pairs">
        <dt>Partitions</dt>
        <dd>{partitions.length === 0 ? "none" : partitions.map(({ key, text, name }) => <span class="mono" key={key} title={name}>{text}</span>)}</dd>
        <dt>Sort order</dt>
        <dd>{order.length === 0 ? "none" : order.map((text) => <span class="mono">{text}</span>)}</dd>
      </dl>
    </Card>
  );
}
