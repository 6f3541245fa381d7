/** Upserts at the same time as deletions, and the counts of reports after a deletion. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const run = (text: string, values: unknown[] = []) => world.server.db.pool.query(text, values);
const publicId = 'racing000001';
const slug = 'racing';
const races = {
  report: {
    table: 'reports',
    upsert: () => world.admin.upsertReportByPublicId({ deploymentId, publicId, body: { name: 'a' } }),
    remove: (reportId: number) => world.admin.deleteReport({ deploymentId, reportId }),
  },
  workbook: {
    table: 'workbooks',
    upsert: () => world.admin.upsertWorkbookBySlug({ deploymentId, slug, body: { name: 'a' } }),
    remove: (workbookId: number) => world.admin.deleteWorkbook({ deploymentId, workbookId }),
  },
};

test.each(['report', 'workbook'] as const)(
  'an upsert of a %s that waits for its deletion creates a new one',
  async (noun) => {
    const { table, upsert } = races[noun];
    const { id } = await upsert();
    const deleter = await world.server.db.pool.connect();
    try {
      await deleter.query('begin');
      await deleter.query(`delete from ${table} where id = $1`, [id]);
      const upserts = [upsert(), upsert()];
      const waiting = `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
        where not granted and datname = current_database()`;
      // Both upserts have found the row that is about to be deleted.
      while ((await run(waiting)).rows[0].count < 2) await new Promise((resume) => setTimeout(resume, 10));
      await deleter.query('commit');
      const made = await Promise.all(upserts);
      expect(made[0]!.id).not.toBe(id);
      expect(made[1]!.id).toBe(made[0]!.id);
    } finally {
      await deleter.query('rollback');
      deleter.release();
    }
  },
);

test.each(['report', 'workbook'] as const)(
  'upserts of a %s at the same time as deletions are never refused',
  async (noun) => {
    const { upsert, remove } = races[noun];
    const refused: string[] = [];
    const upserting = async () => {
      for (let i = 0; i < 25; i++) {
        const made = await upsert().catch(({ code }) => void refused.push(code));
        if (made && i % 2) await remove(made.id).catch(() => {});
      }
    };
    await Promise.all(Array.from({ length: 4 }, upserting));
    expect(refused).toEqual([]);
  },
  60_000,
);

test('counts are deleted with their folder and their deployment', async () => {
  const { id } = await world.deployment();
  const parent = await world.admin.createFolder({ deploymentId: id, body: { name: 'a' } });
  const folder = await world.admin.createFolder({
    deploymentId: id,
    body: { name: 'b', parentId: parent.id },
  });
  const workbook = await world.admin.createWorkbook({ deploymentId: id, body: { folderId: folder.id } });
  await world.admin.createReport({ deploymentId: id, body: { folderId: folder.id } });
  await world.admin.createReport({ deploymentId: id, body: { workbookId: workbook.id } });
  await world.admin.createReport({ deploymentId: id, body: {} });
  const counted = async () =>
    (
      await run(
        `select folder_id::int as folder, sum(count)::int as count from report_counts where deployment_id = $1
         group by 1 order by 1`,
        [id],
      )
    ).rows;
  expect(await counted()).toEqual([
    { folder: -1, count: 3 },
    { folder: 0, count: 1 },
    { folder: folder.id, count: 2 },
  ]);
  await run('delete from folders where id = $1', [parent.id]);
  expect(await counted()).toEqual([
    { folder: -1, count: 1 },
    { folder: 0, count: 1 },
  ]);
  await run('delete from deployments where id = $1', [id]);
  expect(await counted()).toEqual([]);
});
