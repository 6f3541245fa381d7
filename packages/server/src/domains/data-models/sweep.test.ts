import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Modeller, modeller } from '../../../test/data-models.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { sweepModels } from './sweep.ts';

// Sweeps all data models, so it is alone.
let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const query = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;

/** As if this many hours had passed. */
async function later(hours: number) {
  const by = [`${hours} hours`];
  await query(`update git_objects set written_at = written_at - $1::interval`, by);
  await query(`update branches set updated_at = updated_at - $1::interval`, by);
  await query(
    `update data_models set changed_at = changed_at - $1::interval, swept_at = swept_at - $1::interval`,
    by,
  );
}

const sweep = (signal = new AbortController().signal) =>
  sweepModels.run({}, { db: world.server.db, log: pino({ level: 'silent' }), signal } as never);
const sweptAt = async (id: number) =>
  (await query('select swept_at::text as at from data_models where deployment_id = $1', [id]))[0].at;
const contents = async () =>
  (
    await query(
      `select convert_from(content, 'utf8') as text from git_objects where type = 'blob' and deployment_id = $1`,
      [deploymentId],
    )
  ).map(({ text }) => text as string);
const branch = (name: string): Promise<Modeller> =>
  modeller(world, deploymentId, { branch: name, client: world.admin });

/** Waits until the uncommitted changes of the branch are built, with this outcome. */
const untilBuild = (name: string, status: string) =>
  expect
    .poll(() =>
      query(
        `select b.status, b.tree_hash = w.working_tree as "isCurrent" from builds b
           join branches w on w.id = b.branch_id where w.deployment_id = $1 and w.name = $2
           order by b.id desc limit 1`,
        [deploymentId, name],
      ),
    )
    .toEqual([{ status, isCurrent: true }]);

/** Waits until the newest commit of the branch is built: until then an earlier build may be the last good one. */
const untilCommitBuilt = async (name: string) => {
  const lastHash = (await world.admin.listCommits({ deploymentId, name })).items[0]!.hash;
  await expect
    .poll(() => world.admin.buildStatus({ deploymentId, branchName: name }))
    .toMatchObject({ status: 'built', lastHash });
};

test('what nothing needs is removed after an hour, and everything else is kept', async () => {
  const kept = await branch('kept');
  await kept.save({ 'x.yml': 'committed' });
  await kept.save({ 'x.yml': 'committed again' });
  // No build of the uncommitted changes may succeed, because the files of the last good build are kept anyway.
  await kept.write({ 'model/broken.yml': 'cubes: 5', 'x.yml': 'overwritten before a commit' });
  await kept.write({ 'x.yml': 'uncommitted' });
  await untilBuild('kept', 'failed');
  const deleted = await branch('deleted');
  await deleted.save({ 'x.yml': 'of a deleted branch' });
  await world.admin.deleteBranch({ deploymentId, branchName: 'deleted' });
  const onto = { branchName: 'kept', live: true };
  const { transaction } = await world.admin.startUpload({ deploymentId, ...onto, body: {} });
  await world.admin.uploadFile({
    deploymentId,
    body: { transaction: transaction.id, fileName: 'u.yml', file: new Blob(['of an open upload']) },
  });

  await later(0.9);
  await sweep();
  expect(await contents()).toContain('overwritten before a commit');

  await later(1);
  const before = await kept.read();
  await sweep();
  const left = await contents();
  expect(left).not.toContain('overwritten before a commit');
  expect(left).not.toContain('of a deleted branch');
  expect(left).toEqual(
    expect.arrayContaining(['committed', 'committed again', 'uncommitted', 'of an open upload']),
  );
  expect(await kept.read()).toEqual(before);
  expect(
    await query(
      `select written_bytes as written, stored_bytes = (select sum(octet_length(content) + 100) from git_objects o
         where o.deployment_id = m.deployment_id) as "isMeasured"
       from data_models m where deployment_id = $1`,
      [deploymentId],
    ),
  ).toEqual([{ written: 0, isMeasured: true }]);
  expect((await world.admin.listCommits({ deploymentId, name: 'kept' })).items).toHaveLength(3);
});

test('the files of the last good build are kept, whatever its branch holds now', async () => {
  const mine = await branch('built');
  const good = 'cubes: [] # of the last good build';
  await mine.write({ 'model/b.yml': good });
  await untilBuild('built', 'built');
  await mine.write({ 'model/b.yml': 'cubes: 5' });
  await untilBuild('built', 'failed');
  await later(2);
  await sweep();
  expect(await contents()).toContain(good);
});

test('the files of the last upload are kept, whatever its branch holds now', async () => {
  const mine = await branch('uploaded');
  const { transaction } = await world.admin.startUpload({
    deploymentId,
    branchName: 'uploaded',
    live: true,
    body: {},
  });
  const text = 'of the last upload';
  const body = { transaction: transaction.id, fileName: 'u.yml', file: new Blob([text]) };
  await world.admin.uploadFile({ deploymentId, body });
  const hash = createHash('sha1').update(text).digest('hex');
  await world.admin.finishUpload({ deploymentId, body: { transaction, files: { 'u.yml': { hash } } } });
  await mine.save({ 'u.yml': 'changed' });
  await untilCommitBuilt('uploaded');
  // As a job does an hour after it was finished.
  await query('delete from uploads');
  await later(2);
  await sweep();
  expect(await contents()).toContain(text);
  const shown = { branchName: 'uploaded', showLastCLIUpload: true, withContent: true };
  expect((await world.admin.listFiles({ deploymentId, ...shown })).items).toMatchObject([{ content: text }]);
});

test('a sweep that is stopped is done again', async () => {
  await branch('stopped');
  await later(2);
  const before = await sweptAt(deploymentId);
  let asked = 0;
  // Stopped after the sweep of the first data model has begun.
  await sweep({
    get aborted() {
      return ++asked > 1;
    },
  } as AbortSignal);
  expect(asked).toBeGreaterThan(1);
  expect(await sweptAt(deploymentId)).toBe(before);
});

test('a data model without changes is not swept again', async () => {
  await later(3);
  await sweep();
  await later(3);
  const swept = async () => query('select deployment_id, swept_at::text from data_models order by 1');
  const before = await swept();
  await sweep();
  expect(await swept()).toEqual(before);
});

test('a data model that cannot be swept does not keep others from it', async () => {
  const broken = (await world.deployment()).id;
  await branch('after-broken');
  await later(2);
  await query(`delete from git_objects where deployment_id = $1 and type = 'commit'`, [broken]);
  await query(`update data_models set swept_at = swept_at - interval '1 day' where deployment_id = $1`, [
    broken,
  ]);
  const before = [await sweptAt(broken), await sweptAt(deploymentId)];
  await sweep();
  expect(await sweptAt(broken)).toBe(before[0]);
  expect(await sweptAt(deploymentId)).not.toBe(before[1]);
});

test('what was generated last from a dbt project is kept, also if its branch is gone', async () => {
  const { admin } = world;
  const path = join(import.meta.dirname, '../../../test/dbt/artifacts/shop.manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8'));
  const sync = async (branchName: string) => {
    const body = { manifest: new Blob([JSON.stringify(manifest)]) };
    await admin.uploadModelSyncManifest({ deploymentId, body });
    const { syncJobId } = await admin.startModelSync({ deploymentId, body: { branchName } });
    await expect
      .poll(() => admin.getModelSyncStatus({ deploymentId, syncJobId }), { timeout: 60_000 })
      .toMatchObject({ status: 'COMPLETED' });
    return admin.getModelSyncResult({ deploymentId, syncJobId });
  };
  await sync('generated-once');
  await admin.deleteBranch({ deploymentId, branchName: 'generated-once' });
  await later(2);
  await sweep();
  manifest.nodes['model.shop.orders'].description = 'Changed';
  expect(await sync('generated-again')).toMatchObject({ conflicts: [], commit: expect.any(String) });
});
