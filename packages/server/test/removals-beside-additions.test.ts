/** Folders that are deleted while another request puts something into them. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type Person, type World } from './world.ts';

let world: World;
let deploymentId: number;
let owner: Person;
let other: Person;
beforeAll(async () => {
  world = await createWorld();
  owner = await world.person({ roles: ['Explorer'] });
  other = await world.person({ roles: ['Explorer'] });
});
beforeEach(async () => {
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const run = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

/**
 * Counts the connections that wait for a lock and hold one on `folders`, and so not the audit entries of other
 * requests.
 */
const countWaiting = async (condition = 'true') =>
  (
    await run(
      `select from pg_locks l join pg_stat_activity a using (pid)
       where not l.granted and a.datname = current_database() and ${condition} and exists (
         select from pg_locks x where x.pid = l.pid and x.granted and x.relation = 'folders'::regclass)`,
    )
  ).length;

/**
 * Starts the deletion when the addition only lacks its audit entry and is not committed yet. Lets the addition end when
 * the deletion waits, either for the addition or for its own audit entry.
 */
async function deleteDuring<Added, Deleted>(
  add: () => Promise<Added>,
  remove: () => Promise<Deleted>,
): Promise<[PromiseSettledResult<Added>, PromiseSettledResult<Deleted>]> {
  const holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table audit_log in share mode');
    const added = add();
    added.catch(() => {});
    await expect.poll(() => countWaiting(`l.relation = 'audit_log'::regclass`)).toBe(1);
    const removed = remove();
    removed.catch(() => {});
    await expect.poll(() => countWaiting()).toBe(2);
    await holder.query('commit');
    return await Promise.allSettled([added, removed]);
  } finally {
    await holder.end();
  }
}

describe('a folder that is deleted without its content', () => {
  const atRoot = { folderId: null, folderPath: [] };

  test.each(['created', 'moved'] as const)(
    'returns a report that is being %s there to the root',
    async (how) => {
      const { id: folderId } = await world.admin.createFolder({ deploymentId, body: { name: 'folder' } });
      const { id } = await world.admin.createReport({ deploymentId, body: {} });
      const add = () =>
        how === 'created'
          ? world.admin.createReport({ deploymentId, body: { folderId } })
          : world.admin.updateReport({ deploymentId, reportId: id, body: { folderId } });
      const [added, removed] = await deleteDuring(add, () =>
        world.admin.deleteFolder({ deploymentId, folderId }),
      );
      expect([added, removed]).toMatchObject([
        { status: 'fulfilled', value: { folderId } },
        { status: 'fulfilled' },
      ]);
      const { items } = await world.admin.getReports({ deploymentId });
      expect(items).toMatchObject(how === 'created' ? [atRoot, atRoot] : [{ id, ...atRoot }]);
    },
  );

  test.each(['created', 'moved'] as const)(
    'returns a workbook that is being %s there to the root',
    async (how) => {
      const { id: folderId } = await world.admin.createFolder({ deploymentId, body: { name: 'folder' } });
      const { id } = await world.admin.createWorkbook({ deploymentId, body: {} });
      const add = () =>
        how === 'created'
          ? world.admin.createWorkbook({ deploymentId, body: { folderId } })
          : world.admin.updateWorkbook({ deploymentId, workbookId: id, body: { folderId } });
      const [added, removed] = await deleteDuring(add, () =>
        world.admin.deleteFolder({ deploymentId, folderId }),
      );
      expect([added, removed]).toMatchObject([
        { status: 'fulfilled', value: { folderId } },
        { status: 'fulfilled' },
      ]);
      const { items } = await world.admin.getWorkbooks({ deploymentId });
      expect(items).toMatchObject(how === 'created' ? [atRoot, atRoot] : [{ id, ...atRoot }]);
    },
  );
});

describe('a folder that is deleted with its content, while a report comes into a workbook below it', () => {
  async function workbookBelow() {
    const body = { name: 'folder' };
    const { id: folderId } = await owner.client.createFolder({ deploymentId, body });
    const inner = await owner.client.createFolder({ deploymentId, body: { ...body, parentId: folderId } });
    const { id: workbookId } = await owner.client.createWorkbook({
      deploymentId,
      body: { folderId: inner.id },
    });
    const policy = { resourceType: 'Workbook', resourceId: workbookId, action: 'WorkbookEdit' } as const;
    await world.admin.setUserPolicy({ body: { ...policy, userId: other.userId } });
    const { id: reportId } = await other.client.createReport({ deploymentId, body: {} });
    const additions = {
      created: () => other.client.createReport({ deploymentId, body: { workbookId } }),
      moved: () => other.client.updateReport({ deploymentId, reportId, body: { workbookId } }),
    };
    return { folderId, workbookId, additions };
  }

  test('is deleted completely by its owner, who manages what others put into it', async () => {
    const { folderId, additions } = await workbookBelow();
    const [added, removed] = await deleteDuring(additions.created, () =>
      owner.client.deleteFolder({ deploymentId, folderId, recursive: true }),
    );
    expect([added.status, removed.status]).toEqual(['fulfilled', 'fulfilled']);
    const left = async (table: string) =>
      (await run(`select from ${table} where deployment_id = $1`, [deploymentId])).length;
    await expect.poll(() => Promise.all(['folders', 'workbooks'].map(left))).toEqual([0, 0]);
    // The report that was in another place.
    expect(await left('reports')).toBe(1);
  });
});
