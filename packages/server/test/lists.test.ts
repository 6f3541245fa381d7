/** Rules for every list of the contract, including future ones. */
import { isDeepStrictEqual } from 'node:util';

import { allOperations, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { validBody } from './samples.ts';
import { logIn } from './sign-in.ts';
import { ADMIN_PASSWORD, createOwnWorld, unique, type World } from './world.ts';

/** These operations return a plain array of a few items, without pages. */
const BARE = [
  'getFolderAncestors',
  'getUserAttributeValues',
  'listMyIdentities',
  'listOAuthIntegrations',
  'listOidcTokenConfigs',
  'listUserIdentities',
  'listUserOAuthTokens',
];

/** The lists that the specification has without pages. */
const WITHOUT_PAGES = ['branches', 'installations', 'repositories'];

/** Lists with few items, because an installation has one of them, or is set up well. */
const OF_ONE = ['listRegions', 'listDeploymentVersions', 'listNotices'];

const properties = ({ reply }: Operation) => (reply as { properties?: object }).properties ?? {};
const isBare = ({ reply }: Operation) => (reply as { type?: string }).type === 'array';
const isList = (op: Operation) =>
  op.method === 'GET' && (isBare(op) || 'items' in properties(op) || 'data' in properties(op));

const lists = allOperations.filter((op) => isList(op) && !isBare(op) && !WITHOUT_PAGES.includes(op.id));

test('only the known operations return a plain array', () => {
  const bare = allOperations.filter((op) => isList(op) && isBare(op)).map(({ id }) => id);
  expect(bare.sort()).toEqual(BARE);
});

test.each(lists.map((op) => [op.id, op] as const))('%s returns pages', (_id, op) => {
  expect(Object.keys(op.query)).toEqual(expect.arrayContaining(['first', 'after']));
  expect(Object.keys(properties(op))).toEqual(expect.arrayContaining(['items', 'pageInfo']));
});

describe('every list can be paged to its end', () => {
  /** Enough items for a last page that is not full. */
  const COUNT = 3;

  /** The most items that may be added to a list while it is read in pages. */
  const MOST_NEW = 100;
  const times = <T>(make: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: COUNT }, (_, i) => make(i)));
  const embedTenantName = 'lists-tenant';
  let world: World;
  let ids: Record<string, number>;

  beforeAll(async () => {
    world = await createOwnWorld();
    const { admin } = world;
    const { id: deploymentId } = await world.deployment();
    await times(() => world.deployment());
    await createContent(deploymentId);
    await createCommits(deploymentId);
    await createSessions();

    const people = await times(() => world.person({ roles: ['Explorer'] }));
    const [userGroup] = await times(() => admin.createUserGroup({ body: { name: unique('group') } }));
    await admin.addUserGroupMembers({
      id: userGroup!.id,
      body: { userIds: people.map(({ userId }) => userId) },
    });
    await times(() => admin.createApiKey({ body: { name: unique('key') } }));
    await createProcesses(deploymentId);
    const embedGroup = await createEmbedTenants(deploymentId);
    const [environment] = (await admin.getDeploymentEnvironments({ deploymentId })).items;
    const env_variables = ['A', 'B', 'C'].map((name) => ({ name, value: name }));
    // Every name in an address below is `main`.
    env_variables.push({ name: 'DS_MAIN_DB_TYPE', value: 'duckdb' });
    await world.writeFiles(deploymentId, { 'a.csv': 'x\n1\n', 'b.csv': 'x\n1\n', 'c.csv': 'x\n1\n' });
    await admin.setEnvVariables({ deploymentId, body: { env_variables } });
    await times(async () => {
      const name = unique('branch');
      await admin.createBranch({ deploymentId, body: { name } });
      await admin.setBranchStagingEnvironment({ deploymentId, body: { branchName: name, enabled: true } });
    });
    const [webhook] = await times(() =>
      admin.createWebhook({ body: { url: 'https://hooks.example.com/', events: ['role.created'] } }),
    );
    await times(() => admin.createRole({ body: { name: unique('role'), actions: ['ReportRead'] } }));
    ids = {
      deploymentId,
      userId: (await admin.getMe()).id,
      ...(await createNotifications(
        deploymentId,
        people.map(({ userId }) => userId),
      )),
      webhookId: webhook!.id,
      environmentId: Number(environment!.id),
      listUserGroups: userGroup!.id,
      getGroups: embedGroup.id,
    };
  });
  afterAll(() => world.stop());

  async function createContent(deploymentId: number) {
    const sharer = await world.person({ roles: ['Developer'] });
    const { id: userId } = await world.admin.getMe();
    await times(() => world.admin.createFolder({ deploymentId, body: { name: unique('folder') } }));
    await times(() => world.admin.createWorkbook({ deploymentId, body: {} }));
    await times(() => world.admin.createReport({ deploymentId, body: {} }));
    await times(async () => {
      const { id: resourceId } = await sharer.client.createReport({ deploymentId, body: {} });
      const body = { resourceType: 'Report', resourceId, userId, action: 'ReportRead' } as const;
      await sharer.client.setUserPolicy({ body });
    });
  }

  async function createNotifications(deploymentId: number, userIds: number[]) {
    const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: {} });
    const { id: dashboardId } = await world.admin.publishDashboard({
      deploymentId,
      workbookId,
      body: { config: {} },
    });
    const [first] = await times(() =>
      world.admin.createNotification({ deploymentId, body: { dashboardId, scheduleType: 'HOURLY' } }),
    );
    const recipients = userIds.map((userId) => ({ type: 'USER' as const, userId }));
    await world.admin.addRecipients({ deploymentId, id: first!.id, body: { recipients } });
    const { pool } = world.server.db;
    await times((i) =>
      pool.query(
        `insert into notification_runs (notification_id, due_at, state) values ($1, now() + $2 * interval '1 hour', 'done')`,
        [first!.id, i],
      ),
    );
    const { rows } = await pool.query('select max(id) as id from notification_runs');
    await times((i) =>
      pool.query(
        `insert into notification_deliveries (run_id, target, type, status) values ($1, $2, 'SLACK', 'sent')`,
        [rows[0].id, `channel:${i}`],
      ),
    );
    return { notificationId: first!.id, runId: Number(rows[0].id) };
  }

  /** Commits on the deploy branch, whose files are not in folders. */
  async function createCommits(deploymentId: number) {
    const { branchName } = await world.admin.startDevMode({ deploymentId, body: {} });
    for (let i = 0; i < COUNT; i++) {
      const files = [{ path: `${i}.yml`, content: '' }];
      await world.admin.updateFiles({ deploymentId, body: { files } });
      await world.admin.commitChanges({ deploymentId, body: {} });
    }
    await world.admin.mergeToDefaultBranch({ deploymentId, body: { branchName } });
    await world.admin.stopDevMode({ deploymentId });
  }

  /** Other processes than that of this test, and what they wrote. */
  async function createProcesses(deploymentId: number) {
    const { pool } = world.server.db;
    await times(async (i) => {
      await pool.query(
        "insert into server_processes (name, type, containers) values ($1, 'worker', '{MAIN}')",
        [`worker-${i}`],
      );
      await pool.query(
        `insert into deployment_log_lines (deployment_id, source, container, pod, message, created_at)
         values ($1, 'dev', 'MAIN', 'pod', $2, now())`,
        [deploymentId, `line ${i}`],
      );
      await pool.query(
        `insert into server_reports (process, engines, sources, seen_at)
         select $1::text, json_build_array(r.engine), json_build_array(r.source), now() + interval '1 hour'
         from (select
           json_build_object('id', '1', 'deploymentId', $2::bigint, 'dataSource', $1::text, 'type', 'duckdb',
             'state', 'idle', 'memoryBytes', 1, 'queries', 0, 'startedAt', now()) as engine,
           json_build_object('deploymentId', $2::bigint, 'dataSource', $1::text, 'type', 'duckdb', 'lastOkAt', now(),
             'lastErrorAt', null, 'lastError', null) as source) r`,
        [`worker-${i}`, deploymentId],
      );
      await pool.query(
        `insert into builds (deployment_id, branch_id, status, finished_at)
         select $1, id, 'failed', now() from branches where deployment_id = $1 and name = 'main'`,
        [deploymentId],
      );
      await pool.query(
        `insert into running_queries (id, process, deployment_id, kind, query, is_running, started_at, seen_at)
         values ($1, 'worker', $2, 'query', '{}', true, now(), now() + interval '1 hour')`,
        [`other-${i}`, deploymentId],
      );
      await pool.query(
        `insert into slow_queries (process, deployment_id, kind, query, started_at, duration_ms, outcome, is_cached)
         values ('worker', $1, 'query', '{}', now(), 1000, 'answered', false)`,
        [deploymentId],
      );
    });
  }

  async function createSessions() {
    const { email } = await world.admin.getMe();
    await times(() => logIn(world, { email }, ADMIN_PASSWORD));
  }

  async function createEmbedTenants(deploymentId: number) {
    const { admin } = world;
    await times((i) =>
      world.embedded({ deploymentId, externalId: 'v', embedTenantName: `other-tenant-${i}` }),
    );
    await times((i) => world.embedded({ deploymentId, externalId: `v${i}`, embedTenantName }));
    const [group] = await times(() =>
      admin.createGroup({ embedTenantName, body: { name: unique('embed-group') } }),
    );
    const members = Array.from({ length: COUNT }, (_, i) => ({ externalId: `v${i}` }));
    await admin.addGroupMembers({ embedTenantName, id: group!.id, body: { members } });
    return group!;
  }

  const address = (op: Operation) =>
    op.path
      .replace('{deploymentId}', String(ids.deploymentId))
      .replace('{name}', 'main')
      .replace('{embedTenantName}', embedTenantName)
      .replace('{environmentId}', String(ids.environmentId))
      .replace('{runId}', String(ids.runId))
      .replace('/notifications/{id}', `/notifications/${ids.notificationId}`)
      .replace('/webhooks/{id}', `/webhooks/${ids.webhookId}`)
      .replace('/users/{id}', `/users/${ids.userId}`)
      .replace('{id}', String(op.path.includes('embed-tenants') ? ids.getGroups : ids.listUserGroups));

  const page = async (op: Operation, query: Record<string, string>) => {
    const response = await world.raw('GET', `${address(op)}?${new URLSearchParams(query)}`);
    return { status: response.status, reply: (await response.json()) as Page };
  };

  /** Fills a list that is still too short, if there is an operation that creates at its address. */
  async function fill(op: Operation) {
    const creating = allOperations.find(({ method, path }) => method === 'POST' && path === op.path);
    if (!creating) return;
    await times(async () => {
      const body = {
        ...validBody(creating),
        ...('name' in validBody(creating) ? { name: unique('listed') } : {}),
      };
      const headers = { 'content-type': 'application/json' };
      const response = await world.raw('POST', address(creating), { headers, body: JSON.stringify(body) });
      expect(response.status).toBe(200);
    });
  }

  interface Item {
    id?: number;
    type?: string;
    name?: string;
    hash?: string;
    path?: string;
    message?: string;
    children?: Item[];
  }

  interface Page {
    items: Item[];
    data?: unknown[];
    code?: string;
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string };
  }

  /** A folder is in each page that has files of it, so only the files count. */
  const keysOf = (items: Item[]): string[] =>
    items.flatMap(({ id, name, type, hash, path, message, children }) =>
      children ? keysOf(children) : [`${type ?? ''}${id ?? name ?? hash ?? path ?? message}`],
    );

  test.each(lists.map((op) => [op.id, op] as const))('%s', async (id, op) => {
    const readWhole = async () => (await page(op, { first: '1000' })).reply;
    if ((await readWhole()).items.length < COUNT) await fill(op);

    /** Reads the list in one page, and then in pages of two. */
    const readBothWays = async () => {
      const whole = await readWhole();
      expect(whole.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
      const seen: string[] = [];
      const most = keysOf(whole.items).length + MOST_NEW;
      for (let after: string | undefined, more = true; more; ) {
        const { reply } = await page(op, { first: '2', ...(after === undefined ? {} : { after }) });
        expect(reply.items.length).toBeLessThanOrEqual(2);
        expect(reply.pageInfo.hasPreviousPage).toBe(after !== undefined);
        if ('data' in properties(op)) expect(reply.data).toEqual(reply.items);
        seen.push(...keysOf(reply.items));
        expect(seen.length).toBeLessThanOrEqual(most);
        after = reply.pageInfo.endCursor;
        more = reply.pageInfo.hasNextPage;
      }
      return { whole: keysOf(whole.items), seen };
    };

    // Builds that other tests started may still write to the log while it is read. The two ways to read
    // a list must agree once nothing is written in between.
    let read = await readBothWays();
    const unchanged = async () => isDeepStrictEqual(keysOf((await readWhole()).items), read.whole);
    while (!(await unchanged())) read = await readBothWays();
    if (!OF_ONE.includes(id)) expect(read.whole.length).toBeGreaterThanOrEqual(COUNT);
    expect(read.seen).toEqual(read.whole);

    const behindTheEnd = async () => {
      const { endCursor } = (await readWhole()).pageInfo;
      return (await page(op, { first: '2', after: endCursor })).reply;
    };
    await expect.poll(behindTheEnd).toMatchObject({
      items: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    });
    expect((await page(op, { after: 'no-cursor' })).reply.code).toBe('invalid_cursor');
    expect((await page(op, { first: '0' })).status).toBe(400);
  });
});
