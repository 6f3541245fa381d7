/** One embed token, or one embed tenant, cannot use up the whole server. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { EmbedSession } from '../auth/actor.ts';
import { createEmbedAdmission, listeningLimits } from './embed-admission.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld({
    env: { ORIEL_MAX_REQUESTS_PER_EMBED_TOKEN: '2', ORIEL_MAX_REQUESTS_PER_EMBED_TENANT: '3' },
  });
  await world.server.db.pool.query('update tenant_settings set use_creator_mode = true');
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

let count = 0;
const creator = (embedTenantName: string) =>
  world.embedded({ deploymentId, embedTenantName, externalId: `creator-${++count}`, creatorMode: true });

const folders = () => `/api/v1/deployments/${deploymentId}/folders`;
const list = (token: string) =>
  world.raw('GET', folders(), { headers: { authorization: `Bearer ${token}` } });

/** Begins a request that stays open until its body is sent. */
async function begin(token: string): Promise<Socket> {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    `POST ${folders()} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nExpect: 100-continue\r\n` +
      'Content-Type: application/json\r\nContent-Length: 14\r\n\r\n',
  );
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 /);
  return socket;
}

const refusal = async (response: Response) => {
  const { code, message } = (await response.json()) as { code: string; message: string };
  return [
    response.status,
    code,
    response.headers.get('retry-after'),
    /embed (token|tenant)/.exec(message)?.[1],
  ];
};

/**
 * Asks again until the requests of these tokens are counted: Node says "100 Continue" before their caller is known. A body
 * that takes too long ends its request, so on a busy machine another one takes its place. Returns the open requests.
 */
async function expectRefusal(token: string, whose: 'token' | 'tenant', busy: string[]): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const ask = async () => {
    for (const [i, each] of busy.entries())
      if (sockets[i]?.destroyed !== false) sockets[i] = await begin(each);
    return refusal(await list(token));
  };
  await expect.poll(ask).toEqual([429, 'too_many_at_once', '1', whose]);
  return sockets;
}

test('one token has a limit of requests at once, and other tokens of its tenant have their own', async () => {
  const [ann, bob] = [await creator('tenant-one'), await creator('tenant-one')];
  const busy = await expectRefusal(ann.token, 'token', [ann.token, ann.token]);
  expect((await list(bob.token)).status).toBe(200);
  busy[0]!.write('{"name":"mine"');
  busy[0]!.write('}');
  await once(busy[0]!, 'data');
  await expect.poll(async () => (await list(ann.token)).status).toBe(200);
  for (const socket of busy) socket.destroy();
});

test('an embed tenant has a limit of requests at once, and other tenants have their own', async () => {
  const [ann, bob] = [await creator('tenant-two'), await creator('tenant-two')];
  const busy = await expectRefusal(bob.token, 'tenant', [ann.token, ann.token, bob.token]);
  expect((await list((await creator('tenant-three')).token)).status).toBe(200);
  expect((await world.admin.getFolders({ deploymentId })).items).toBeDefined();
  for (const socket of busy) socket.destroy();
  await expect.poll(async () => (await list(bob.token)).status).toBe(200);
});

test('open event streams leave half of the connections to others, and one embed tenant has an eighth', () => {
  const { enter, leave } = createEmbedAdmission(listeningLimits(80));
  const session = (sessionId: number, embedTenant: string) => ({ sessionId, embedTenant }) as EmbedSession;
  const fill = (embedTenant: string, from: number) => {
    for (let i = 0; i < 10; i++) enter(session(from + i, embedTenant));
  };
  fill('a', 0);
  expect(() => enter(session(100, 'a'))).toThrow('embed tenant');
  for (const [i, name] of ['b', 'c', 'd'].entries()) fill(name, 10 * (i + 1));
  expect(() => enter(session(100, 'e'))).toThrow('of this server');
  leave(session(0, 'a'));
  expect(() => enter(session(100, 'e'))).not.toThrow();
});

describe('a request is no longer counted', () => {
  test('when it was answered, even with an error, many times in a row', async () => {
    const { token } = await creator('tenant-four');
    for (let i = 0; i < 10; i++) {
      expect((await list(token)).status).toBe(200);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      for (const [path, body, status] of [
        [folders(), '{', 400],
        [folders(), `{"name":"${'x'.repeat(300_000)}"}`, 413],
        [`/api/v1/deployments/${deploymentId + 1}/folders`, '{}', 403],
        ['/api/v1/users', '{}', 403],
      ] as const)
        expect((await world.raw('POST', path, { headers, body })).status).toBe(status);
    }
  });

  test('when the work is done, if the caller has left', async () => {
    const { token } = await creator('tenant-five');
    const locker = await world.server.db.pool.connect();
    await locker.query('begin');
    await locker.query('lock table folders in access exclusive mode');
    const leave = new AbortController();
    const lists = [1, 2].map(() =>
      fetch(world.url + folders(), { headers: { authorization: `Bearer ${token}` }, signal: leave.signal }),
    );
    const waiting = async () => {
      // Not asked on the connection that holds the lock: within a transaction, PostgreSQL shows the activity as it was
      // at the first query.
      const { rows } = await world.server.essential.pool.query(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows[0].count;
    };
    // Each of the two lists waits with two statements.
    await expect.poll(waiting, { interval: 20 }).toBe(4);
    leave.abort();
    await Promise.allSettled(lists);
    // The requests still hold their connections, so they still count.
    for (let i = 0; i < 3; i++) expect((await list(token)).status).toBe(429);
    await locker.query('rollback');
    locker.release();
    await expect.poll(async () => (await list(token)).status).toBe(200);
  });
});
