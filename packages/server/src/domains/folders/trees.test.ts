/** Changes of one folder tree wait for each other. Only a few may wait, and no other request waits for them. */
import type { OrielClient } from '@oriel/client';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { changeFunction } from '../../platform/audit/change.ts';
import type { Person } from '../../platform/auth/actor.ts';
import { type Database, openDatabase } from '../../platform/db/database.ts';
import { viewerOf } from '../access/index.ts';
import { lockTree } from './index.ts';
import { createTrees } from './trees.ts';

const ACME = 'acme-corp';
const GLOBEX = 'globex-inc';
/** How many calls can run at once, and how many can wait for them. */
const TOGETHER = 3;
const WAITING = 8;

let world: World;
let rival: Database;
let deploymentId: number;
let clients: Record<'main' | typeof ACME | typeof GLOBEX, OrielClient>;
beforeAll(async () => {
  world = await createWorld();
  rival = openDatabase({ connectionString: world.databaseUrl }, pino({ level: 'silent' }));
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
  const creator = async (embedTenantName: string) =>
    (await world.embedded({ deploymentId, embedTenantName, creatorMode: true, externalId: 'ann' })).client;
  clients = { main: world.admin, [ACME]: await creator(ACME), [GLOBEX]: await creator(GLOBEX) };
});
afterAll(async () => {
  await rival.end();
  await world.stop();
});

const folder = async (client: OrielClient, parentId?: number) =>
  (await client.createFolder({ deploymentId, body: { name: 'folder', parentId } })).id;

/** Runs the work while another process holds the lock of a tree. */
const whileHeld = <T>(embedTenant: string | null, work: () => Promise<T>) =>
  rival.transaction(async (tx) => {
    await lockTree(tx, { deploymentId, embedTenant });
    return work();
  });

const connectionsThatWait = async () => {
  const waits = `select count(*)::int as n from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'`;
  return (await rival.pool.query(waits)).rows[0].n as number;
};

/** Makes each kind of change to a tree. */
async function changeTree(client: OrielClient) {
  const [top, other] = [await folder(client), await folder(client)];
  const inner = await folder(client, top);
  await client.updateFolder({ deploymentId, folderId: inner, body: { name: 'renamed' } });
  await client.moveWorkspaceObject({ deploymentId, body: { type: 'FOLDER', id: inner, folderId: other } });
  const items = [{ type: 'FOLDER' as const, id: inner }];
  const { moved } = await client.bulkMoveWorkspaceObjects({ deploymentId, body: { items } });
  expect(moved).toHaveLength(1);
  const { deleted } = await client.bulkDeleteWorkspaceObjects({ deploymentId, body: { items } });
  expect(deleted).toHaveLength(1);
  await client.deleteFolder({ deploymentId, folderId: top });
}

describe.each([
  [ACME, [GLOBEX, 'main']],
  [null, [ACME, GLOBEX]],
] as const)('while the tree of %s is held', (held, others) => {
  test.each(others)('the folders of %s are created, renamed, moved and deleted', async (other) => {
    await whileHeld(held, () => changeTree(clients[other]));
  });
});

test('a tree that is held does not block the tree of another deployment', async () => {
  const here = deploymentId;
  await whileHeld(null, async () => {
    deploymentId = (await world.deployment()).id;
    await changeTree(world.admin);
  });
  expect(deploymentId).not.toBe(here);
});

/** Begins the calls while the tree is held, and returns how many succeeded and which were refused. */
async function crowd(embedTenant: string | null, atOnce: number, calls: (() => Promise<unknown>)[]) {
  const refused: unknown[] = [];
  const outcomes = await whileHeld(embedTenant, async () => {
    const begun = calls.map((call) =>
      call().then(
        () => 'ok',
        ({ status, code }) => void refused.push({ status, code }),
      ),
    );
    // Calls that can neither run nor wait are refused while the tree is still held.
    await expect.poll(() => refused.length).toBe(calls.length - atOnce - WAITING);
    await expect.poll(connectionsThatWait).toBe(atOnce);
    // Other requests still work, because there are free connections.
    await world.admin.getReports({ deploymentId });
    await folder(clients[GLOBEX]);
    // The calls are not awaited here, because they wait for the tree.
    return { begun };
  });
  return { done: (await Promise.all(outcomes.begun)).filter((outcome) => outcome === 'ok').length, refused };
}

const BUSY = { status: 503, code: 'busy' };

test('of many moves, one waits with a connection, a few without, and the others are refused', async () => {
  const client = clients[ACME];
  const ids = [];
  for (let i = 0; i < 12; i++) ids.push(await folder(client));
  const target = await folder(client);
  const moves = ids.map((id) => () => {
    const items = [{ type: 'FOLDER' as const, id }];
    return client.bulkMoveWorkspaceObjects({ deploymentId, body: { items, folderId: target } });
  });
  expect(await crowd(ACME, 1, moves)).toEqual({ done: 1 + WAITING, refused: Array(3).fill(BUSY) });
});

test('of many creations, a few wait with a connection', async () => {
  const parent = await folder(world.admin);
  const creations = Array.from({ length: 14 }, () => () => folder(world.admin, parent));
  const outcome = await crowd(null, TOGETHER, creations);
  expect(outcome).toEqual({ done: TOGETHER + WAITING, refused: Array(3).fill(BUSY) });
});

test('a refused call gets a Retry-After header', async () => {
  const id = await folder(world.admin);
  const rename = () =>
    world.raw('PUT', `/api/v1/deployments/${deploymentId}/folders/${id}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'renamed' }),
    });
  const begun: Promise<Response>[] = [];
  const refused = await whileHeld(null, () => {
    for (let i = 0; i < WAITING + 2; i++) begun.push(rename());
    return Promise.race(begun);
  });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  const statuses = (await Promise.all(begun)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([...Array(WAITING + 1).fill(200), 503]);
});

test('a call that names content that the caller cannot see does not wait for its tree', async () => {
  const theirs = await folder(clients[GLOBEX]);
  const explorer = await world.person({ roles: ['Explorer'] });
  const items = [{ type: 'FOLDER' as const, id: theirs }];
  await whileHeld(GLOBEX, async () => {
    for (const client of [clients[ACME], explorer.client]) {
      for (const { failed } of [
        await client.bulkMoveWorkspaceObjects({ deploymentId, body: { items } }),
        await client.bulkDeleteWorkspaceObjects({ deploymentId, body: { items } }),
      ]) {
        expect(failed).toMatchObject([{ ...items[0], error: { status: 404 } }]);
      }
      const move = client.moveWorkspaceObject({ deploymentId, body: items[0]! });
      await expect(move).rejects.toMatchObject({ status: 404, code: 'folder_not_found' });
    }
  });
});

test('one list may name folders of several trees', async () => {
  const ids = [await folder(clients[GLOBEX]), await folder(world.admin), await folder(clients[ACME])];
  const items = ids.map((id) => ({ type: 'FOLDER' as const, id }));
  const calls = [items, items.toReversed(), items].map((some) =>
    world.admin.bulkMoveWorkspaceObjects({ deploymentId, body: { items: some } }),
  );
  for (const { moved, failed } of await Promise.all(calls)) expect([moved.length, failed]).toEqual([3, []]);
});

test('two lists that name the same trees in opposite orders do not wait for each other', async () => {
  const trees = createTrees();
  const actor: Person = {
    kind: 'person',
    userId: 1,
    apiKeyId: null,
    sessionId: null,
    deploymentIds: null,
    actions: new Set(),
    deploymentActions: new Map(),
  };
  const viewer = viewerOf(actor, deploymentId);
  const origin = {
    operation: 'test',
    resourceType: 'Folder',
    deploymentId,
    ip: null,
    embedTenantName: null,
    requestId: null,
  };
  const change = changeFunction(rival, { ...origin, actor });
  const take = async (embedTenants: (string | null)[]) =>
    (await trees.change(change, viewer, embedTenants, async () => ({ reply: 'done', changes: [] }))).reply;
  // Both lists arrive while each of the trees is taken, so each waits for the first tree that it needs.
  const calls = [take([ACME]), take([null]), take([ACME, null]), take([null, ACME])];
  expect(await Promise.all(calls)).toEqual(['done', 'done', 'done', 'done']);
});
