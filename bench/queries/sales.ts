/** A deployment with one large table of sales in a Parquet file, and twenty groups whose policies all differ. */
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { createOrielClient, type OrielClient } from '@oriel/client';
import { openServedModel } from '../data-models/served-model.ts';
import { ADMIN_KEY, type Oriel, startOriel } from '../harness/oriel.ts';
import { undoAtEnd } from '../harness/undo.ts';

export const ROWS = 10_000_000;
export const TEAMS = 20;
const BUILT_WITHIN_MS = 120_000;

export interface Sales {
  oriel: Oriel;
  deploymentId: number;
  client: OrielClient;
  /** DuckDB in this process, with the same table, threads and memory as the engine of the deployment. */
  duckdb: DuckDBInstance;
}

const teamOf = (i: number) => `bench_team_${i}`;

/** Each team sees other rows, by conditions of four kinds. */
const policyOf = (i: number) => {
  const filters = [
    `[{ member: region, operator: equals, values: ["region ${i}"] }]`,
    `[{ member: category, operator: equals, values: ["category ${i}", "category ${i + 20}"] }]`,
    `[{ member: customer_id, operator: lt, values: ["${(i + 1) * 4000}"] }]`,
    `[{ member: region, operator: notEquals, values: ["region ${i}"] }, { member: customer_id, operator: gte, values: ["${i * 1000}"] }]`,
  ];
  return `      - group: ${teamOf(i)}\n        row_level: { filters: ${filters[i % filters.length]} }\n`;
};

const members = `    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: region, sql: region, type: string }
      - { name: category, sql: category, type: string }
      - { name: customer_id, sql: customer_id, type: number }
      - { name: sold_at, sql: sold_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
      - { name: average, sql: amount, type: avg }
      - { name: customers, sql: customer_id, type: count_distinct }
`;
const MODEL = `cubes:
  - name: sales
    sql_table: files.sales
${members}  - name: governed_sales
    sql_table: files.sales
${members}    access_policy:
${Array.from({ length: TEAMS }, (_, i) => policyOf(i)).join('')}`;

export async function startSales(rows: number): Promise<Sales> {
  const oriel = await startOriel();
  const client = createOrielClient({ baseUrl: oriel.url, apiKey: ADMIN_KEY });
  const { id: deploymentId } = await client.createDeployment({
    body: {
      name: 'Sales',
      cloudProvider: 'managed',
      creationStep: 'ready',
      isManaged: true,
      region: 'local',
      targetPlatform: 'embedded',
    },
  });
  const duckdb = await writeSales(join(oriel.dataDir, 'files', String(deploymentId)), rows);
  const model = openServedModel(oriel, deploymentId);
  await model.createBranch('bench');
  await model.commit('bench', new Map([['model/cubes/sales.yml', MODEL]]));
  await model.merge('bench');
  for (const until = Date.now() + BUILT_WITHIN_MS; ; await sleep(200)) {
    const { status, errorText } = await client.buildStatus({ deploymentId, branchName: 'main' });
    if (status === 'built') break;
    if (status === 'failed' || Date.now() > until) throw new Error(`The model is ${status}: ${errorText}`);
  }
  return { oriel, deploymentId, client, duckdb };
}

async function writeSales(folder: string, rows: number): Promise<DuckDBInstance> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'sales.parquet');
  // As in packages/server/src/engines/engines.ts.
  const duckdb = await DuckDBInstance.create(':memory:', { threads: '4', memory_limit: '1024MB' });
  undoAtEnd(() => duckdb.closeSync());
  const connection = await duckdb.connect();
  await connection.run("set global TimeZone = 'UTC'");
  await connection.run(`
    copy (
      select i as id, 'region ' || (hash(i) % 20) as region, 'category ' || (hash(i + 1) % 50) as category,
        (hash(i + 2) % 100000)::bigint as customer_id, ((hash(i + 3) % 100000) / 100)::decimal(12, 2) as amount,
        timestamp '2024-01-01' + to_seconds((hash(i + 4) % 63072000)::bigint) as sold_at
      from range(${rows}) t(i)) to '${file}' (format parquet)`);
  await connection.run('create schema files');
  await connection.run(`create view files.sales as select * from read_parquet('${file}')`);
  connection.closeSync();
  // The engines of a server that is root run as another user.
  await chmod(join(folder, '..'), 0o711);
  await chmod(folder, 0o755);
  await chmod(file, 0o644);
  return duckdb;
}

export interface Viewer {
  headers: Record<string, string>;
}

/** One viewer of each team, with the token of an embed session. */
export async function signInTeams({ oriel, client, deploymentId }: Sales): Promise<Viewer[]> {
  const viewers: Viewer[] = [];
  for (let i = 0; i < TEAMS; i++) {
    await client.createUserGroup({ body: { name: teamOf(i) } });
    const session = { deploymentId, externalId: `viewer-${i}`, groups: [teamOf(i)] };
    const { sessionId } = await client.generateSession({ body: session });
    const { token } = await createOrielClient({ baseUrl: oriel.url }).postTokenBySessionId({
      body: { sessionId },
    });
    viewers.push({ headers: { authorization: `Bearer ${token}` } });
  }
  return viewers;
}

export interface Statement {
  sql: string;
  values: (string | null)[];
}

const addressOf = ({ oriel, deploymentId }: Sales, operation: string, query: object) =>
  `${oriel.url}/query/api/v1/deployments/${deploymentId}/${operation}?query=${encodeURIComponent(JSON.stringify(query))}`;

export const loadAddress = (sales: Sales, query: object) => addressOf(sales, 'load', query);

/** The statement that the server runs for this query of this viewer. */
export async function statementOf(
  sales: Sales,
  headers: Record<string, string>,
  query: object,
): Promise<Statement> {
  const reply = await fetch(addressOf(sales, 'sql', query), { headers });
  if (!reply.ok) throw new Error(`The SQL of a query was refused: ${await reply.text()}`);
  const { sql } = (await reply.json()) as { sql: { sql: [string, (string | null)[]] } };
  return { sql: sql.sql[0], values: sql.sql[1] };
}

/** Runs the statement on a connection of its own, and writes its rows as JSON text. */
export async function runDirectly(duckdb: DuckDBInstance, { sql, values }: Statement): Promise<string> {
  const connection = await duckdb.connect();
  try {
    const reader = await connection.runAndReadAll(sql, values);
    return JSON.stringify(reader.getRowObjectsJson());
  } finally {
    connection.closeSync();
  }
}
