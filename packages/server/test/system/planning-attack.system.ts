/**
 * A viewer sends queries that are much work to plan, on many connections, as fast as they are answered. Others do not
 * notice: the built server, as a process, answers within the time that is promised.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  type RunningServer,
  startServer,
  until,
  usedDataDir,
} from '../../../../acceptance/server-process.ts';
import { type Call, nearlyAll, startControl } from './control.ts';

const MODEL = `cubes:
  - name: orders
    sql: "select 1 as id, 'new' as status, timestamp '2024-01-10 08:00:00' as ordered_at"
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
      - { name: ordered_at, sql: ordered_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: recent, type: count, rolling_window: { trailing: 7 day } }
    access_policy:
      - group: "*"
        row_level: { allow_all: true }
`;

/** A cheap query of another customer also waits for its engine, which has what is left of the two cores. */
const QUERY_MS = 1000;
/** What health and minting promise. */
const PROMISED_MS = 250;
const ATTACK_MS = 8000;
const REQUESTS_MAX = 5000;

let server: RunningServer;
let admin: OrielClient;
let deploymentId: number;
beforeAll(async () => {
  server = await startServer(await usedDataDir());
  admin = server.client(ADMIN_KEY);
  ({ id: deploymentId } = await admin.createDeployment({ body: deploymentNamed('attacked') }));
  const { branchName } = await admin.startDevMode({ deploymentId, body: {} });
  const files = [{ path: 'model/orders.yml', content: MODEL }];
  await admin.updateFiles({ deploymentId, body: { branchName: branchName!, files } });
  await admin.commitChanges({ deploymentId, body: { branchName: branchName!, message: 'Model' } });
  await admin.mergeToDefaultBranch({ deploymentId, body: { branchName: branchName!, message: 'Model' } });
  await until('the model is built', async () => {
    const { status } = await admin.buildStatus({ deploymentId, branchName: 'main' });
    return status === 'built';
  });
});
afterAll(cleanUp);

async function tokenOf(customer: string): Promise<string> {
  const body = { deploymentId, externalId: `viewer of ${customer}`, embedTenantName: customer };
  const { sessionId } = await admin.generateSession({ body });
  return (await server.client().postTokenBySessionId({ body: { sessionId } })).token;
}

/** Sends a request and reads its answer to the end. */
const send = (agent: Agent, path: string, token?: string, body?: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    request(`${server.url}${path}`, { agent, method: body === undefined ? 'GET' : 'POST', headers })
      .once('response', (answer) => answer.resume().once('end', () => resolve(answer.statusCode!)))
      .once('error', reject)
      .end(body);
  });

const load = (agent: Agent, token: string, query: object) =>
  send(
    agent,
    `/query/api/v1/deployments/${deploymentId}/load`,
    token,
    JSON.stringify({ query, queryType: 'multi' }),
  );

/** Attacks until it is told to stop, with one request after the other on each connection, each of them different. */
async function attack(
  connections: number,
  token: string,
  queryOf: (number: number) => object,
  signal: AbortSignal,
  statuses: Record<number, number>,
) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let count = 0;
  // Answers that are still on their way then are dropped.
  signal.addEventListener('abort', () => agent.destroy());
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!signal.aborted && count < REQUESTS_MAX) {
        const status = await load(agent, token, queryOf(++count)).catch((error: unknown) => {
          if (!signal.aborted) throw error;
          return 0;
        });
        statuses[status] = (statuses[status] ?? 0) + 1;
        // A client that is refused does not retry at once.
        if (status === 429) await sleep(20);
      }
    }),
  );
}

/** Calls of others, and how long they took. */
async function probe(forMs: number) {
  const agent = new Agent({ keepAlive: true });
  const other = await tokenOf('other');
  const calls = {
    health: () => send(agent, '/healthz'),
    mint: async () => {
      await admin.generateSession({ body: { deploymentId, externalId: 'minted' } });
      return 200;
    },
    query: () => load(agent, other, { measures: ['orders.count'], dimensions: ['orders.status'] }),
  };
  await calls.query();
  const control = await startControl();
  const took = { health: [] as Call[], mint: [] as Call[], query: [] as Call[] };
  const until = Date.now() + forMs;
  while (Date.now() < until) {
    for (const name of ['health', 'mint', 'query'] as const)
      took[name].push(await control.time(async () => expect(await calls[name]()).toBe(200)));
    await sleep(50);
  }
  agent.destroy();
  const { figures, ownMs } = await control.stop();
  return {
    figures: Object.entries(took)
      .map(([name, all]) => `${name} ${figures(all)}`)
      .join(', '),
    health: nearlyAll(ownMs(took.health)),
    mint: nearlyAll(ownMs(took.mint)),
    query: nearlyAll(ownMs(took.query)),
  };
}

async function under(connections: number, queryOf: (number: number) => object) {
  const quiet = await probe(2000);
  const token = await tokenOf('attacker');
  const stopping = new AbortController();
  const statuses: Record<number, number> = {};
  const attacking = attack(connections, token, queryOf, stopping.signal, statuses);
  try {
    const attacked = await probe(ATTACK_MS);
    console.log(
      `quiet: ${quiet.figures}; attacked: ${attacked.figures}; attacker: ${JSON.stringify(statuses)}`,
    );
    // Otherwise the attack did not happen, or was refused for another reason than its cost.
    await until('a query of the attack ends', async () => statuses[200] ?? statuses[504]);
    return attacked;
  } finally {
    stopping.abort();
    await attacking;
    expect(Object.keys(statuses)).toSatisfy((all: string[]) =>
      all.every((status) => ['0', '200', '429', '503', '504'].includes(status)),
    );
  }
}

const ranges = (number: number) =>
  Array.from({ length: 8 }, (_, i) => [
    `${2000 + 3 * i}-01-01`,
    `${2003 + 3 * i}-01-${String(1 + (number % 28)).padStart(2, '0')}`,
  ]);

test('ten connections that compare eight ranges of a rolling measure by day delay nobody', async () => {
  const { health, mint, query } = await under(10, (number) => ({
    measures: ['orders.recent'],
    timeDimensions: [
      { dimension: 'orders.ordered_at', granularity: 'day', compareDateRange: ranges(number) },
    ],
    limit: 1 + number,
    timezone: 'Europe/Berlin',
  }));
  expect(health).toBeLessThan(PROMISED_MS);
  expect(mint).toBeLessThan(PROMISED_MS);
  expect(query).toBeLessThan(QUERY_MS);
});

test('thirty connections with bodies of 174 KB delay nobody', async () => {
  const values = Array.from({ length: 10_000 }, (_, i) => `value ${String(i).padStart(8, '0')}`);
  const { health, mint, query } = await under(30, (number) => ({
    measures: ['orders.count'],
    filters: [{ member: 'orders.status', operator: 'contains', values }],
    limit: 1 + number,
    total: true,
  }));
  expect(health).toBeLessThan(PROMISED_MS);
  expect(mint).toBeLessThan(PROMISED_MS);
  expect(query).toBeLessThan(QUERY_MS);
});
