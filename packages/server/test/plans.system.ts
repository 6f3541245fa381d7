/** The query plans of the report lists, with 100,000 rows: no list reads or sorts more than necessary. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NONE, READ, type Viewer } from '../src/domains/access/index.ts';
import { countReports } from '../src/domains/reports/list.store.ts';
import { readPage } from '../src/domains/reports/list.ts';
import type { ReportFilter, ReportQuery } from '../src/domains/reports/list-query.ts';
import type { Queryable } from '../src/platform/db/database.ts';
import { Sql } from '../src/platform/db/sql.ts';
import { loadWithoutIndexes } from './bulk-load.ts';
import { createOwnWorld, type World } from './world.ts';

const REPORTS = 100_000;
const PIECE = 10_000;
const FOLDERS = 2_000;
const TENANT = 'acme-corp';
const TENANT_REPORTS = 1_500;
const PAGE = 50;
/** Each of the merged branches reads a page. */
const SORTED_MAX = 40 * PAGE;

let world: World;
let deploymentId: number;
let viewers: Record<'everything' | 'scattered' | 'fewFolders' | 'manyFolders' | 'creator', Viewer>;
let folderId: number;
let workbookId: number;

beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
  const people = await Promise.all([1, 2, 3].map(() => world.person({ roles: ['Viewer'] })));
  const [scattered, few, many] = people.map(({ userId }) => userId) as [number, number, number];
  const owner = (await world.admin.getMe()).id;
  const run = (text: string, values: unknown[] = []) => world.server.db.pool.query(text, values);
  await run(
    `insert into folders (id, deployment_id, path, shown_path, name, name_key, position, user_id) overriding system value
     select n, $1, array[n], '{}', 'folder ' || n, 'folder ' || n, n, $2 from generate_series(1, $3::bigint) n`,
    [deploymentId, owner, FOLDERS],
  );
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: {} })).id;
  await loadWithoutIndexes(world.databaseUrl, 'reports', async () => {
    // In several statements, so that none of them times out on a busy machine.
    for (let first = 1; first <= REPORTS; first += PIECE) {
      await run(
        `insert into reports (deployment_id, public_id, folder_id, workbook_id, scope_folder_id, name, name_key, search_text,
                            user_id, created_at, updated_at)
       select $1, lpad(n::text, 12, '0'), case when n % 20 > 0 then 1 + n % $3 end, case when n % 20 = 0 then $4::bigint end,
              case when n % 20 > 0 then 1 + n % $3 end, x.name, x.name,
              x.name || case when n % 12 = 0 then ' common' when n % 9999 = 0 then ' rareword' else '' end,
              $2, now() - n * interval '1 minute', now() - (n * 7919 % 100000) * interval '1 minute'
       from generate_series($5::bigint, $6::bigint) n, lateral (select 'report ' || md5(n::text) as name) x`,
        [deploymentId, owner, FOLDERS, workbookId, first, first + PIECE - 1],
      );
    }
  });
  await run(
    `insert into reports (deployment_id, public_id, name, name_key, search_text, embed_tenant, user_id, created_at, updated_at)
     select $1, lpad(n::text, 12, 't'), x.name, x.name, x.name || case when n % 50 = 0 then ' rareword' else '' end, $3, $2,
            now() - n * interval '1 hour', now() - (n * 7919 % 100000) * interval '1 minute'
     from generate_series(1, $4::bigint) n, lateral (select 'report ' || md5(n::text) as name) x`,
    [deploymentId, owner, TENANT, TENANT_REPORTS],
  );
  const grant = (type: string, from: string, userId: number) =>
    run(
      `insert into resource_policies (deployment_id, resource_type, resource_id, user_id, action, level)
       select $1, $2, id, $3, $2 || 'Read', 1 from (${from}) x`,
      [deploymentId, type, userId],
    );
  await grant('Report', 'select id from reports where id % 2003 = 0', scattered);
  await grant('Folder', 'select id from folders where id % 400 = 0', few);
  await grant('Folder', 'select id from folders where id % 2 = 0', many);
  await run('vacuum analyze');
  folderId = 7;
  const viewer = (userId: number, level: typeof NONE | typeof READ = NONE): Viewer => ({
    userId,
    deploymentId,
    levels: { Folder: level, Workbook: level, Report: level },
    mayCreate: true,
    embedTenant: null,
    seesNames: false,
    isExternal: false,
  });
  viewers = {
    everything: viewer(owner, READ),
    scattered: viewer(scattered),
    fewFolders: viewer(few),
    manyFolders: viewer(many),
    creator: { ...viewer(scattered, READ), embedTenant: TENANT, isExternal: true },
  };
});
afterAll(() => world.stop());

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/** Runs the work, and returns every node of every plan that it used. */
async function plansOf(work: (db: Queryable) => Promise<unknown>): Promise<Plan[]> {
  const nodes: Plan[] = [];
  const collect = (plan: Plan): void => {
    nodes.push(plan);
    plan.Plans?.forEach(collect);
  };
  const { db } = world.server;
  const explain = async (query: Sql) => {
    const { rows } = await db.pool.query(`explain (analyze, format json) ${query.text}`, query.values);
    collect(rows[0]['QUERY PLAN'][0].Plan);
  };
  const explaining =
    <Result>(run: (query: Sql) => Promise<Result>) =>
    async (query: Sql) => {
      await explain(new Sql(query.text, query.values));
      return run(query);
    };
  await work({
    many: explaining((query) => db.many(query)),
    one: explaining((query) => db.one(query)),
    maybeOne: explaining((query) => db.maybeOne(query)),
    run: explaining((query) => db.run(query)),
  } as Queryable);
  return nodes;
}

const NO_FILTER: ReportFilter = {
  folderId: null,
  workbookId: null,
  externalWorkbookId: null,
  search: null,
  embedTenant: null,
};

type PageQuery = ReportQuery & { size: number };

const query = (changes: Partial<PageQuery>): PageQuery => ({
  viewer: viewers.everything,
  filter: NO_FILTER,
  sortBy: 'createdAt',
  direction: 'DESC',
  after: null,
  size: PAGE,
  limit: PAGE + 1,
  offset: 0,
  ...changes,
});

function expectFrugal(nodes: Plan[]) {
  expect(nodes.length).toBeGreaterThan(0);
  const scans = nodes.filter(
    (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'reports',
  );
  expect(scans).toEqual([]);
  const sorted = nodes
    .filter((node) => node['Node Type'].includes('Sort'))
    .map((node) => node.Plans?.[0]?.['Actual Rows'] ?? 0);
  expect(Math.max(0, ...sorted)).toBeLessThanOrEqual(SORTED_MAX);
}

describe.each(['name', 'createdAt', 'updatedAt', 'lastViewedAt'] as const)('by %s', (sortBy) => {
  describe.each(['ASC', 'DESC'] as const)('%s', (direction) => {
    test.each(['everything', 'scattered', 'fewFolders', 'manyFolders'] as const)(
      'for a viewer who may read %s',
      async (who) => {
        expectFrugal(await plansOf((db) => readPage(db, query({ viewer: viewers[who], sortBy, direction }))));
      },
    );

    test.each(['folder', 'workbook'] as const)('of one %s', async (place) => {
      const filter = { ...NO_FILTER, ...(place === 'folder' ? { folderId } : { workbookId }) };
      expectFrugal(await plansOf((db) => readPage(db, query({ sortBy, direction, filter }))));
    });
  });
});

describe.each(['name', 'createdAt', 'updatedAt'] as const)('deep in the list by %s', (sortBy) => {
  test.each(['ASC', 'DESC'] as const)('%s', async (direction) => {
    const before = query({ sortBy, direction, size: 1, limit: 1, offset: 50_000 });
    const [row] = (await readPage(world.server.db, before)).positions;
    const after: [string, number] = [row!.key, row!.id];
    expectFrugal(await plansOf((db) => readPage(db, query({ sortBy, direction, after }))));
  });
});

test.each(['rareword', 'common'])('a search for %s', async (search) => {
  expectFrugal(await plansOf((db) => readPage(db, query({ filter: { ...NO_FILTER, search } }))));
});

test.each(['everything', 'fewFolders', 'manyFolders'] as const)(
  'the count for a viewer who may read %s',
  async (who) => {
    const nodes = await plansOf((db) => countReports(db, viewers[who], NO_FILTER));
    expect(nodes.filter((node) => node['Relation Name'] === 'reports' && node['Actual Rows'] > PAGE)).toEqual(
      [],
    );
  },
);

test.each(['folder', 'workbook'] as const)('the count of one %s reads only an index', async (place) => {
  const filter = { ...NO_FILTER, ...(place === 'folder' ? { folderId } : { workbookId }) };
  const nodes = await plansOf((db) => countReports(db, viewers.everything, filter));
  const scans = nodes.filter((node) => node['Relation Name'] === 'reports').map((node) => node['Node Type']);
  expect(scans).toEqual(['Index Only Scan']);
});

describe('a list of an embed tenant reads no other rows', () => {
  const filter = { ...NO_FILTER, embedTenant: TENANT };
  const expectWithin = (nodes: Plan[]) => {
    expectFrugal(nodes);
    const read = nodes
      .filter((node) => node['Relation Name'] === 'reports')
      .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']);
    expect(Math.max(...read)).toBeLessThanOrEqual(TENANT_REPORTS);
  };

  describe.each(['name', 'createdAt', 'updatedAt', 'lastViewedAt'] as const)('by %s', (sortBy) => {
    test.each(['ASC', 'DESC'] as const)('%s', async (direction) => {
      for (const search of [null, 'rareword', 'xy']) {
        const asked = query({ viewer: viewers.creator, filter: { ...filter, search }, sortBy, direction });
        expectWithin(await plansOf((db) => readPage(db, asked)));
      }
    });
  });

  test.each([null, 'rareword', 'xy'])('the count, with a search for %s', async (search) => {
    expectWithin(await plansOf((db) => countReports(db, viewers.creator, { ...filter, search })));
  });
});
