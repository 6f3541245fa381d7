/**
 * A day of a company with 10,000 customers, in a short time: an hour lasts `--seconds`, and viewers come at the rate of
 * that hour. `--rows` is how many viewers there are in the busiest hour; 1000000 is the whole company. The figures of
 * docs/sizing.md are from here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { visitor } from './day/visitor.ts';
import type { Benchmark, ContenderResult, RunOptions } from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { summary } from './harness/paced-load.ts';
import { addUsages, PARTS, type Part, type Usages, usageOf } from './harness/usage.ts';

const CUSTOMERS = 10_000;
const VIEWERS = 100_000;
const REPORTS = 1000;
const IDLE_CONNECTIONS = 500;
/** The hours of a day, in percent of the busiest one. */
const HOURS = [2, 1, 1, 1, 2, 5, 15, 40, 75, 100, 95, 85, 70, 80, 90, 85, 75, 60, 40, 25, 15, 10, 6, 4];
/** If the servers do not keep up, the run ends, and does not fill the memory of this process. */
const VISITS_AT_ONCE = 2000;
const SECRET_KEY = 'qZ7nVb4xKc9mRf5jLd8sGp3yAe6uhT2w';

export const day: Benchmark = {
  name: 'day',
  description:
    'a day of mints, exchanges, dashboards, queries and lists, on one server and on two; see docs/sizing.md',
  run,
};

async function run({ rows = VIEWERS, seconds }: RunOptions) {
  const settings = { ORIEL_MAX_EXTERNAL_USERS: '100000000', ORIEL_SECRET_KEY: SECRET_KEY };
  const first = await startOriel({ settings });
  const database = new pg.Client(first.connection);
  await database.connect();
  try {
    // Makes the files of the demo and starts the engine.
    await visitor({ servers: [first], customers: 1 }).visit(0);
    const idle = await usageOf(first.pid);
    const connection = await kilobytesOfConnection(first);
    const reports = await growthOfReports(database, first);
    const one = await liveThrough([first], database, { rows, seconds });
    const after = await usageOf(first.pid);
    const address = `postgres://${first.connection.user}@${encodeURIComponent(first.connection.host)}/${first.connection.database}`;
    const web = { ...settings, ORIEL_DATABASE_URL: address, ORIEL_ROLE: 'web', ORIEL_DEMO: 'true' };
    const second = await startOriel({ settings: web });
    const two = await liveThrough([first, second], database, { rows, seconds });
    return {
      measured: [...measuredOf('one server', one), ...measuredOf('two servers', two)],
      comparisons: [],
      facts: {
        day: `${rows} viewers in the busiest hour, of ${CUSTOMERS} customers; each hour lasts ${seconds} s`,
        idle: memoryText(idle),
        'after one': memoryText(after),
        connection: `${connection.toFixed(0)} KB of the server for an idle one`,
        'one server': one.text,
        'two servers': two.text,
        sessions: one.growth,
        reports,
      },
    };
  } finally {
    await database.end();
  }
}

const memoryText = (usages: Usages) =>
  PARTS.map((part) => `${part} ${Math.round(usages[part].megabytes)} MB`).join(', ');

async function kilobytesOfConnection(oriel: Oriel): Promise<number> {
  const { agent, get } = visitor({ servers: [oriel], customers: 1, sockets: IDLE_CONNECTIONS });
  const all = () => Promise.all(Array.from({ length: IDLE_CONNECTIONS }, () => get('/api/v1/app-config')));
  const before = await usageOf(oriel.pid);
  await all();
  const { server } = await usageOf(oriel.pid);
  agent.destroy();
  return ((server.megabytes - before.server.megabytes) * 1024) / IDLE_CONNECTIONS;
}

async function growthOfReports(database: pg.Client, oriel: Oriel): Promise<string> {
  const { agent, post } = visitor({ servers: [oriel], customers: 1, sockets: 8 });
  const before = await readSizes(database);
  const path = '/api/v1/deployments/1/reports';
  const body = (i: number) => ({ name: `Report ${i} of the day`, description: 'What was sold, by month.' });
  await Promise.all(Array.from({ length: REPORTS }, (_, i) => post('report', path, body(i))));
  agent.destroy();
  return growthText(before, await readSizes(database), REPORTS, 'reports');
}

interface DayResult {
  latencies: Map<string, number[]>;
  seconds: number;
  text: string;
  growth: string;
}

async function liveThrough(
  servers: Oriel[],
  database: pg.Client,
  { rows, seconds }: { rows: number; seconds: number },
): Promise<DayResult> {
  const usages = async () => addUsages(await Promise.all(servers.map(({ pid }) => usageOf(pid))));
  const sizes = await readSizes(database);
  const before = await usages();
  const { agent, visit, latencies } = visitor({ servers, customers: CUSTOMERS, sockets: 256 });
  const failures = new Map<string, number>();
  const visits = new Set<Promise<void>>();
  const started = performance.now();
  let viewers = 0;
  for (const [hour, percent] of HOURS.entries()) {
    const end = started + (hour + 1) * seconds * 1000;
    const perMs = (rows / 3_600_000) * (percent / 100);
    const gap = () => -Math.log(1 - Math.random()) / perMs;
    for (let due = end - seconds * 1000 + gap(); due < end; due += gap()) {
      while (performance.now() < due) await sleep(Math.max(0, due - performance.now()));
      if (visits.size >= VISITS_AT_ONCE) throw new Error('The servers do not keep up: give fewer --rows.');
      const coming = visit(++viewers).catch(({ message }: Error) => {
        failures.set(message, (failures.get(message) ?? 0) + 1);
      });
      visits.add(coming);
      void coming.finally(() => visits.delete(coming));
    }
    while (performance.now() < end) await sleep(end - performance.now());
  }
  await Promise.all(visits);
  agent.destroy();
  const after = await usages();
  const each = (part: Part) => ((after[part].cpuSeconds - before[part].cpuSeconds) * 1000) / viewers;
  const failed = [...failures].map(([message, count]) => `${count} × ${message}`).join(', ');
  const memory = ((after.server.megabytes - before.server.megabytes) * 1024) / viewers;
  return {
    latencies,
    seconds: (performance.now() - started) / 1000,
    text: [
      `${viewers} viewers`,
      `processor ms for each: ${PARTS.map((part) => `${part} ${each(part).toFixed(1)}`).join(', ')}`,
      `memory of the server for each: ${memory.toFixed(1)} KB`,
      `failed: ${failed || 'none'}`,
    ].join('; '),
    growth: growthText(sizes, await readSizes(database), viewers, 'sessions'),
  };
}

const measuredOf = (where: string, { latencies, seconds }: DayResult): ContenderResult[] =>
  [...latencies].map(([name, all]) => {
    const median = { perSecond: all.length / seconds, ...summary(all) };
    return { name: `${name}, ${where}`, median, samples: [median] };
  });

/** Bytes of each table with its indexes, by name. Partitions count for their table. */
async function readSizes(database: pg.Client): Promise<Map<string, number>> {
  const { rows } = await database.query(`
    select coalesce(p.relname, c.relname) as name, sum(pg_total_relation_size(c.oid))::float8 as bytes
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1
    union all select 'write-ahead log', pg_current_wal_lsn() - '0/0'::pg_lsn`);
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

function growthText(before: Map<string, number>, after: Map<string, number>, count: number, what: string) {
  const grown = [...after]
    .map(([name, bytes]): [string, number] => [
      name,
      ((bytes - (before.get(name) ?? 0)) * 1000) / count / 1024,
    ])
    .filter(([, kilobytes]) => kilobytes >= 1)
    .sort(([, a], [, b]) => b - a);
  return `KB for 1000 ${what}: ${grown.map(([name, kilobytes]) => `${name} ${Math.round(kilobytes)}`).join(', ')}`;
}
