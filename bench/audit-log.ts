/** The audit log with a million entries: late pages by every filter, and what an entry costs the cheapest write. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Anchor, Benchmark, Contender, RunOptions } from './harness/benchmark.ts';
import { type Connection, type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { undoAtEnd } from './harness/undo.ts';
import { runWrk, wrkVersion } from './harness/wrk.ts';
import { type Answer, compareLatencies, fetchText, type Ratio } from './reports/latency.ts';

const ROWS = 1_000_000;
const PAGE = 50;
const CALLS = 15;
const MONTHS = 12;
const CONNECTIONS = 32;
/** Late pages are in the middle: page 10,000 of 20,000. */
const LATE = 0.5;

export const auditLog: Benchmark = {
  name: 'audit-log',
  description:
    'GET audit entries among a million, late pages by every filter against the first; and a write with and without its entry',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const oriel = await startOriel();
  const rows = options.rows ?? ROWS;
  await loadEntries(oriel.connection, rows);
  const pages = await compareLatencies(await latePages(oriel), { rounds: options.rounds, calls: CALLS });
  const writes = await measureWrites(oriel, options);
  return {
    measured: [...pages.measured, ...writes.measured],
    comparisons: [...pages.comparisons, ...writes.comparisons],
    facts: {
      entries: `${rows}, over ${MONTHS} months`,
      wrk: `${wrk}, 1 thread, ${CONNECTIONS} connections`,
    },
  };
}

/** The columns are independent of one another, so that each filter finds entries in every month. */
async function loadEntries(connection: Connection, rows: number) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(
      `insert into audit_log (created_at, operation, resource_type, resource_id, deployment_id, embed_tenant, user_id,
                              api_key_id, ip, request_id, before, after)
       select now() - (n::float / $1) * interval '${MONTHS} months', 'operation-' || n % 20, 'type-' || n % 7,
              'id-' || n % 1000, case when n % 3 = 0 then n % 11 + 100 end, case when n % 5 = 0 then 'tenant-' || n % 13 end,
              n % 17 + 100, n % 19 + 100, '192.0.2.1', case when n % 23 = 0 then 'one-request' else 'request-' || n end,
              jsonb_build_object('name', 'before ' || n), jsonb_build_object('name', 'after ' || n)
       from generate_series($1::bigint, 1, -1) n`,
      [rows],
    );
    await client.query('select make_audit_months()');
    // The state in which autovacuum leaves the tables.
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

type Query = Record<string, string | number>;

const FILTERS: [string, Query][] = [
  ['', {}],
  [' of a user', { actorId: 105 }],
  [' of a key', { apiKeyId: 105 }],
  [' of an operation', { operation: 'operation-5' }],
  [' of a type', { resourceType: 'type-5' }],
  [' of a resource', { resourceType: 'type-5', resourceId: 'id-5' }],
  [' of a deployment', { deploymentId: 105 }],
  [' of an embed tenant', { embedTenantName: 'tenant-5' }],
  [' of a request', { requestId: 'one-request' }],
  [' of a time', { from: daysAgo(300), to: daysAgo(30) }],
  [' of a user and an operation', { actorId: 105, operation: 'operation-5' }],
];

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

const urlOf = ({ url }: Pick<Oriel, 'url'>, query: Query) =>
  `${url}/api/v1/audit-log?${new URLSearchParams(
    Object.entries({ first: PAGE, ...query }).map(([name, value]): [string, string] => [name, String(value)]),
  )}`;

const read = async (oriel: Oriel, query: Query) =>
  JSON.parse(await fetchText(urlOf(oriel, query), oriel.headers)) as Answer;

/** Walks to the end, and returns the cursor in the middle. A cursor is valid only with its own filters. */
async function cursorInTheMiddle(oriel: Oriel, filter: Query) {
  const cursors: string[] = [];
  for (let after: string | undefined; ; ) {
    const { pageInfo } = await read(oriel, { ...filter, first: 1000, ...(after && { after }) });
    if (pageInfo?.endCursor) cursors.push(pageInfo.endCursor);
    if (!pageInfo?.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  const at = Math.max(1, Math.floor(cursors.length * LATE));
  // The last page of a short list ends the list, so its cursor comes from the middle of that page.
  const after =
    cursors.length > 1 ? cursors[at - 1]! : (await read(oriel, { ...filter, first: 1 })).pageInfo!.endCursor;
  return { after, page: cursors.length > 1 ? Math.floor((at * 1000) / PAGE) + 1 : 2 };
}

async function latePages(oriel: Oriel): Promise<Ratio[]> {
  const action = (name: string, query: Query) => ({
    name,
    act: () => fetchText(urlOf(oriel, query), oriel.headers),
  });
  const ratios: Ratio[] = [];
  for (const [name, filter] of FILTERS) {
    const { after, page } = await cursorInTheMiddle(oriel, filter);
    ratios.push({
      subject: action(`page ${page}${name}`, { ...filter, after }),
      anchor: action(`page 1${name}`, filter),
      anchorDoes:
        'Oriel itself, the first page of the same list. Shows how paging scales, not how fast it is.',
      asked: { atMost: 1.5 },
    });
  }
  return ratios;
}

/** Creates groups with new names: one row, and one audit entry. */
const createGroupLua = (run: number) => `
local n = 0
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, '{"name":"bench-${run}-' .. n .. '"}')
end
`;

async function measureWrites(oriel: Oriel, options: RunOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-bench-lua-'));
  undoAtEnd(() => rm(folder, { recursive: true, force: true }));
  let runs = 0;
  const writing = (name: string, auditLogEnabled: boolean): Contender => ({
    name,
    async measure(seconds) {
      await switchAuditLog(oriel, auditLogEnabled);
      const script = join(folder, `${++runs}.lua`);
      await writeFile(script, createGroupLua(runs));
      const { url, headers } = oriel;
      return runWrk({ url: `${url}/api/v1/user-groups`, headers, script, connections: CONNECTIONS }, seconds);
    },
  });
  const anchor: Anchor = {
    ...writing('Oriel, creating a group with the audit log turned off', false),
    does:
      'Oriel itself. It makes the entry and sends the same statements, but the database stores no entry. So the ratio ' +
      'shows the cost of storing it in the table and its indexes, and not that of the statement.',
  };
  const rounds = await measureInTurns(writing('Oriel, creating a group', true), [anchor], options);
  return { measured: rounds.measured, comparisons: [rounds.compare(anchor, { asked: { atLeast: 0.85 } })] };
}

async function switchAuditLog({ url, headers }: Oriel, auditLogEnabled: boolean) {
  const reply = await fetch(`${url}/api/v1/tenant/settings`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ auditLogEnabled }),
  });
  if (!reply.ok)
    throw new Error(`The audit log could not be switched: ${reply.status} ${await reply.text()}`);
}
