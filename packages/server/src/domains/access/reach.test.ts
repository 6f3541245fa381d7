/** What a list reads grows with the number of folders that its caller owns, however deep these lie in each other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countingRows } from '../../../test/rows-read.ts';
import { createOwnWorld, type Person, type World } from '../../../test/world.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { countFolders, listFolders } from '../folders/store.ts';
import { countReports } from '../reports/list.store.ts';
import { readPage } from '../reports/list.ts';
import { countWorkbooks, listWorkbooks } from '../workbooks/store.ts';
import { NONE, type Viewer } from './index.ts';

const FOLDERS = 600;
const DEPTH = 30;
/** Each person owns every second folder of their trees or, with 1, every folder. Other people own the rest. */
const TREES = { flat: [1, 1], deep: [DEPTH, 1], alternating: [DEPTH, 2] } as const;
type Tree = keyof typeof TREES;

let world: World;
let deploymentId: number;
const people = {} as Record<Tree, Person>;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
  const run = (text: string, values: unknown[] = []) => world.server.db.pool.query(text, values);
  const other = (await world.admin.getMe()).id;
  let first = 1000;
  for (const [tree, [depth, each]] of Object.entries(TREES)) {
    const person = await world.person({ roles: ['Viewer'] });
    people[tree as Tree] = person;
    // Chains of folders, with a workbook of somebody else in each folder, and a report of the owner.
    await run(
      `insert into folders (id, deployment_id, parent_id, path, shown_path, name, name_key, position, user_id)
       overriding system value
       select $1::bigint + n, $2, case when n % $3::int > 0 then $1::bigint + n - 1 end,
              array(select $1::bigint + i from generate_series(n - n % $3::int, n) i),
              array(select json_build_object('id', $1::bigint + i, 'name', 'folder')::text from generate_series(n - n % $3::int, n) i),
              'folder', 'folder', n, case when n % $4::int = 0 then $5::bigint else $6::bigint end
       from generate_series(0, $7::int - 1) n`,
      [first, deploymentId, depth, each, person.userId, other, FOLDERS],
    );
    await run(
      `insert into workbooks (deployment_id, folder_id, name, name_key, user_id)
       select $1, $2::bigint + n, 'workbook', 'workbook', $3 from generate_series(0, $4::int - 1) n`,
      [deploymentId, first, other, FOLDERS],
    );
    await run(
      `insert into reports (deployment_id, public_id, folder_id, scope_folder_id, name, name_key, search_text, user_id)
       select $1, lpad(($2::bigint + n)::text, 12, '0'), $2::bigint + n, $2::bigint + n, 'report', 'report', 'report', $3
       from generate_series(0, $4::int - 1) n`,
      [deploymentId, first, person.userId, FOLDERS],
    );
    first += FOLDERS;
  }
  await run('vacuum analyze');
});
afterAll(() => world.stop());

const viewerOf = ({ userId }: Person): Viewer => ({
  userId,
  deploymentId,
  levels: { Folder: NONE, Workbook: NONE, Report: NONE },
  mayCreate: true,
  embedTenant: null,
  seesNames: false,
  isExternal: false,
});

const PAGE = { after: null, limit: 11 };
const FILTER = {
  folderId: null,
  workbookId: null,
  externalWorkbookId: null,
  search: null,
  embedTenant: null,
};
const ALL = { folderId: undefined, embedTenant: null };
const RECURSIVE = { parentId: null, recursive: true, embedTenant: null };
const LISTS: Record<string, (db: Queryable, viewer: Viewer) => Promise<unknown>> = {
  'a page of workbooks': (db, viewer) => listWorkbooks(db, viewer, ALL, PAGE),
  'the count of workbooks': (db, viewer) => countWorkbooks(db, viewer, ALL),
  'a page of folders': (db, viewer) => listFolders(db, viewer, RECURSIVE, PAGE),
  'the count of folders': (db, viewer) => countFolders(db, viewer, RECURSIVE),
  'a page of reports': (db, viewer) =>
    readPage(db, {
      viewer,
      filter: FILTER,
      sortBy: 'createdAt',
      direction: 'DESC',
      ...PAGE,
      size: PAGE.limit - 1,
      offset: 0,
    }),
  'the count of reports': (db, viewer) => countReports(db, viewer, FILTER),
};

test.each(Object.entries(LISTS))('%s', async (_name, list) => {
  const readFor = async (tree: Tree) => {
    const { counts, db } = countingRows(world);
    await list(db, viewerOf(people[tree]));
    return counts.read;
  };
  const flat = await readFor('flat');
  expect(flat).toBeGreaterThan(0);
  for (const tree of ['deep', 'alternating'] as const) {
    expect(await readFor(tree), tree).toBeLessThan(2 * flat);
  }
});

test.each(Object.keys(TREES) as Tree[])('the owner of %s folders reaches each of them once', async (tree) => {
  const { client } = people[tree];
  const counts = await Promise.all([
    client.getFolders({ deploymentId, recursive: true, first: 1 }),
    client.getWorkbooks({ deploymentId, first: 1 }),
    client.getReports({ deploymentId, first: 1 }),
  ]);
  expect(counts.map(({ count }) => count)).toEqual([FOLDERS, FOLDERS, FOLDERS]);
});
