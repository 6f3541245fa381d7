/**
 * The query plans of the lists of the workspace, of workbooks and of folders, in a deployment where the caller does not
 * see most rows: no list reads or sorts more than necessary, whether or not the planner knows the parameters.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MANAGE, NONE, type Viewer } from '../src/domains/access/index.ts';
import { countFolders, listFolders } from '../src/domains/folders/store.ts';
import { countWorkbooks, listWorkbooks } from '../src/domains/workbooks/store.ts';
import { listWorkspace, type OrderBy, type WorkspaceQuery } from '../src/domains/workspace/store.ts';
import { clientConfig } from '../src/platform/db/connection.ts';
import type { Queryable } from '../src/platform/db/database.ts';
import type { Sql } from '../src/platform/db/sql.ts';
import { loadWithoutIndexes } from './bulk-load.ts';
import { createOwnWorld, type World } from './world.ts';

const REPORTS = 60_000;
const WORKBOOKS = 20_000;
const FOLDERS = 20_000;
const PIECE = 10_000;
const TENANT = 'acme-corp';
/** The number of rows of each kind. */
const OF_TENANT = 300;
const PAGE = 10;
/** Each source of a page reads a page, and a search reads some pages ahead. */
const READ_MAX = 100 * (PAGE + 1);
const ORDERS = ['updated_at', 'created_at', 'name', 'viewer_last_viewed_at'] as const;

let world: World;
let deploymentId: number;
let viewers: Record<'admin' | 'grantee' | 'creator', Viewer>;
/** One client for each plan mode. */
let clients: Record<Mode, pg.Client>;
let bigFolder: number;

type Mode = 'force_custom_plan' | 'force_generic_plan';

beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
  const { userId: grantee } = await world.person({ roles: ['Viewer'] });
  const owner = (await world.admin.getMe()).id;
  const run = (text: string, values: unknown[] = []) => world.server.db.pool.query(text, values);
  const inPieces = (table: string, count: number, text: string) =>
    loadWithoutIndexes(world.databaseUrl, table, async () => {
      for (let first = 1; first <= count; first += PIECE) {
        await run(text, [deploymentId, owner, first, Math.min(first + PIECE, count + 1) - 1]);
      }
    });
  const times = `now() - n * interval '1 minute', now() - (n * 7919 % 100000) * interval '1 minute'`;
  // Half of the rows are at the root, half below the first folder.
  await inPieces(
    'folders',
    FOLDERS,
    `insert into folders (id, deployment_id, parent_id, path, shown_path, name, name_key, position, user_id, created_at, updated_at)
     overriding system value
     select n, $1, case when n % 2 = 0 then 1 end, case when n % 2 = 0 then array[1, n] else array[n] end,
            case when n % 2 = 0 then '{"{}","{}"}'::text[] else '{"{}"}' end, x.name, x.name, n % 100, $2, ${times}
     from generate_series($3::bigint, $4::bigint) n,
          lateral (select 'folder ' || md5(n::text) || case when n % 12 = 0 then ' common' when n % 2500 = 0 then ' rareword' else '' end as name) x`,
  );
  bigFolder = 1;
  await inPieces(
    'workbooks',
    WORKBOOKS,
    `insert into workbooks (id, deployment_id, folder_id, name, name_key, user_id, created_at, updated_at) overriding system value
     select n, $1, case when n % 2 = 0 then 1 + n % 7 end, x.name, x.name, $2, ${times}
     from generate_series($3::bigint, $4::bigint) n,
          lateral (select 'workbook ' || md5(n::text) || case when n % 12 = 0 then ' common' when n % 2500 = 0 then ' rareword' else '' end as name) x`,
  );
  await inPieces(
    'reports',
    REPORTS,
    `insert into reports (deployment_id, public_id, folder_id, workbook_id, scope_folder_id, name, name_key, search_text,
                          user_id, created_at, updated_at)
     select $1, lpad(n::text, 12, '0'), case when n % 3 = 0 then 1 + n % 7 end, case when n % 3 = 1 then 1 + n % 50 end,
            case when n % 3 = 0 then 1 + n % 7 end, x.name, x.name, x.name, $2, ${times}
     from generate_series($3::bigint, $4::bigint) n,
          lateral (select 'report ' || md5(n::text) || case when n % 12 = 0 then ' common' when n % 2500 = 0 then ' rareword' else '' end as name) x`,
  );
  // The rows of the tenant are the oldest, and come last by position.
  const ofTenant = `now() - interval '1 year' - n * interval '1 minute', now() - interval '1 year' - n * interval '1 minute'
    from generate_series(1, $4::bigint) n, lateral (select md5(n::text) || case when n % 50 = 0 then ' rareword' else '' end as name) x`;
  const tenantValues = [deploymentId, owner, TENANT, OF_TENANT];
  await run(
    `insert into folders (id, deployment_id, path, shown_path, name, name_key, position, user_id, embed_tenant, created_at, updated_at)
     overriding system value
     select 1000000 + n, $1, array[1000000 + n], '{"{}"}', x.name, x.name, 1000 + n, $2, $3, ${ofTenant}`,
    tenantValues,
  );
  await run(
    `insert into workbooks (id, deployment_id, name, name_key, user_id, embed_tenant, created_at, updated_at)
     overriding system value
     select 1000000 + n, $1, x.name, x.name, $2, $3, ${ofTenant}`,
    tenantValues,
  );
  await run(
    `insert into reports (deployment_id, public_id, name, name_key, search_text, user_id, embed_tenant, created_at, updated_at)
     select $1, lpad(n::text, 12, 't'), x.name, x.name, x.name, $2, $3, ${ofTenant}`,
    tenantValues,
  );
  const grant = (type: string, table: string, condition: string) =>
    run(
      `insert into resource_policies (deployment_id, resource_type, resource_id, user_id, action, level)
       select $1, $2, id, $3, $2 || 'Read', 1 from ${table} where ${condition} order by id limit 20`,
      [deploymentId, type, grantee],
    );
  await grant('Folder', 'folders', 'id % 499 = 0');
  await grant('Workbook', 'workbooks', 'id % 1999 = 0');
  await grant('Report', 'reports', 'id % 2999 = 0');
  await run(
    `insert into report_views (user_id, report_id, viewed_at)
     select u, id, now() from reports, unnest($1::bigint[]) u where id % 5000 = 0`,
    [[owner, grantee]],
  );
  // Searches use the index only after the newest rows have been merged into it.
  await run('vacuum analyze');
  const viewer = (userId: number, level: typeof NONE | typeof MANAGE): Viewer => ({
    userId,
    deploymentId,
    levels: { Folder: level, Workbook: level, Report: level },
    mayCreate: true,
    embedTenant: null,
    seesNames: false,
    isExternal: false,
  });
  viewers = {
    admin: viewer(owner, MANAGE),
    grantee: viewer(grantee, NONE),
    creator: { ...viewer(owner, MANAGE), embedTenant: TENANT, isExternal: true },
  };
  clients = { force_custom_plan: await connect(), force_generic_plan: await connect() };
  for (const [mode, client] of Object.entries(clients)) await client.query(`set plan_cache_mode = ${mode}`);
});
afterAll(async () => {
  await Promise.all(Object.values(clients).map((client) => client.end()));
  await world.stop();
});

async function connect() {
  const client = new pg.Client(clientConfig({ connectionString: world.databaseUrl }));
  await client.connect();
  return client;
}

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

const CONTENT = ['folders', 'workbooks', 'reports'];

/** The number of rows of content that the work reads, and the number of rows that it returns. */
async function reads(mode: Mode, work: (db: Queryable) => Promise<unknown[] | number>) {
  const client = clients[mode];
  let read = 0;
  const collect = (plan: Plan): void => {
    const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
    if (CONTENT.includes(plan['Relation Name'] ?? ''))
      read += (plan['Actual Rows'] + removed) * plan['Actual Loops'];
    plan.Plans?.forEach(collect);
  };
  /** Uses a prepared statement, because only prepared statements have generic plans. */
  const run = async (query: Sql) => {
    await client.query(`prepare one as ${query.text}`);
    try {
      const values = query.values.map((value) => pg.escapeLiteral(asText(value)));
      const execute = `execute one(${values.join()})`;
      const { rows } = await client.query(`explain (analyze, format json) ${execute}`);
      collect(rows[0]['QUERY PLAN'][0].Plan);
      return (await client.query(execute)).rows;
    } finally {
      await client.query('deallocate one');
    }
  };
  const answer = await work({
    many: run,
    one: async (query: Sql) => (await run(query))[0],
  } as unknown as Queryable);
  return { read, answer };
}

const asText = (value: unknown) => (Array.isArray(value) ? `{${value.join()}}` : String(value));

const query = (changes: Partial<WorkspaceQuery>): WorkspaceQuery => ({
  viewer: viewers.admin,
  shared: false,
  owned: false,
  folderId: null,
  types: ['FOLDER', 'WORKBOOK', 'REPORT'],
  search: null,
  embedTenant: (changes.viewer ?? viewers.admin).embedTenant,
  orderBy: 'updated_at',
  direction: 'DESC',
  after: null,
  limit: PAGE + 1,
  ...changes,
});

describe.each(['force_custom_plan', 'force_generic_plan'] as const)('with %s', (mode) => {
  const expectFrugal = async (changes: Partial<WorkspaceQuery>, most = READ_MAX, least = PAGE + 1) => {
    const { read, answer } = await reads(mode, (db) => listWorkspace(db, query(changes)));
    expect(read, JSON.stringify({ ...changes, viewer: undefined })).toBeLessThanOrEqual(most);
    expect((answer as unknown[]).length).toBeGreaterThanOrEqual(least);
  };

  describe.each(ORDERS)('the workspace by %s', (orderBy: OrderBy) => {
    describe.each(['ASC', 'DESC'] as const)('%s', (direction) => {
      const order = { orderBy, direction };

      test.each(['admin', 'grantee'] as const)('for the %s, at the root and behind a cursor', async (who) => {
        const viewer = viewers[who];
        await expectFrugal({ ...order, viewer });
        const rows = await listWorkspace(world.server.db, query({ ...order, viewer, limit: 3 }));
        const { key, type, id } = rows.at(-1)!;
        await expectFrugal({ ...order, viewer, after: [key, type, id] }, READ_MAX, 5);
      });

      test('for the admin, in a folder and behind a cursor', async () => {
        // There are few folders, so a list may sort those in one folder.
        const place = { ...order, folderId: bigFolder, types: ['WORKBOOK', 'REPORT'] as const };
        // The order by last view reads everything in the folder.
        await expectFrugal(place, orderBy === 'viewer_last_viewed_at' ? 4 * READ_MAX : READ_MAX);
        const rows = await listWorkspace(world.server.db, query({ ...place, limit: 500 }));
        const { key, type, id } = rows.at(-1)!;
        await expectFrugal({ ...place, after: [key, type, id] }, 4 * READ_MAX);
      });

      test('for the creator, who sees only the content of the tenant', async () => {
        const viewer = viewers.creator;
        await expectFrugal({ ...order, viewer }, 4 * OF_TENANT);
        await expectFrugal({ ...order, viewer, search: 'rareword' }, 8 * OF_TENANT);
      });

      test('of shared content', async () => {
        await expectFrugal({ ...order, viewer: { ...viewers.grantee }, shared: true });
      });

      test.each(['admin', 'grantee'] as const)('for the %s, who searches for a rare word', async (who) => {
        await expectFrugal({ ...order, viewer: viewers[who], search: 'rareword' }, READ_MAX, 0);
      });
    });
  });

  test.each(['updated_at', 'created_at', 'name'] as const)(
    'a search for a common word reads the first rows of the list by %s',
    async (orderBy) => {
      await expectFrugal({ orderBy, search: 'common' });
    },
  );

  test('a search for a short text reads only rows that the viewer may read', async () => {
    await expectFrugal({ viewer: viewers.grantee, search: 'ab', orderBy: 'created_at' }, 2 * READ_MAX, 1);
  });

  test.each(['admin', 'grantee', 'creator'] as const)('the workbooks of the %s', async (who) => {
    const viewer = viewers[who];
    const page = { after: null, limit: PAGE + 1 };
    const places = who === 'admin' ? [undefined, null, 3] : [undefined, null];
    for (const folderId of places) {
      const filter = { folderId, embedTenant: viewer.embedTenant };
      const { read, answer } = await reads(mode, (db) => listWorkbooks(db, viewer, filter, page));
      expect(read, String(folderId)).toBeLessThanOrEqual(READ_MAX);
      expect((answer as unknown[]).length).toBeGreaterThanOrEqual(5);
    }
  });

  test.each(['admin', 'grantee', 'creator'] as const)('the folders of the %s', async (who) => {
    const viewer = viewers[who];
    const page = { after: null, limit: PAGE + 1 };
    for (const filter of [
      { parentId: null, recursive: false },
      { parentId: null, recursive: true },
    ]) {
      const whole = { ...filter, embedTenant: viewer.embedTenant };
      const { read, answer } = await reads(mode, (db) => listFolders(db, viewer, whole, page));
      expect(read).toBeLessThanOrEqual(READ_MAX);
      expect((answer as unknown[]).length).toBeGreaterThan(5);
    }
  });

  test('counts for a viewer who may read few rows read few rows', async () => {
    const viewer = viewers.grantee;
    const folders = { parentId: null, recursive: true, embedTenant: null };
    const counts = [
      (db: Queryable) => countFolders(db, viewer, folders),
      (db: Queryable) => countWorkbooks(db, viewer, { folderId: undefined, embedTenant: null }),
    ];
    for (const count of counts) {
      const { read, answer } = await reads(mode, count);
      expect(Number(answer)).toBeGreaterThan(5);
      expect(read).toBeLessThanOrEqual(READ_MAX);
    }
  });
});
