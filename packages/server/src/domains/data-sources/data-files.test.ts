/** Files that are uploaded become tables, within limits. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DATA_FILES_MB: '1' } });
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

type Client = World['admin'];
const upload = (fileName: string, text: string, client: Client = world.admin) =>
  client.uploadDataFile({ deploymentId, fileName, body: { contentType: 'text/csv', data: text } });
const sample = async () =>
  (
    await world.admin.sampleDataSourceTable({
      deploymentId,
      name: 'default',
      schema: 'files',
      table: 'orders',
    })
  ).rows;

test('an uploaded file is a table at once, is replaced as a whole, and is gone when it is deleted', async () => {
  expect(await upload('orders.csv', 'id,amount\n1,5\n')).toMatchObject({ table: 'files.orders', size: 14 });
  expect(await sample()).toEqual([['1', '5']]);
  await upload('orders.csv', 'id,amount\n1,7\n2,8\n');
  expect(await sample()).toHaveLength(2);
  const { items } = await world.admin.listDataFiles({ deploymentId });
  expect(items.map(({ name }) => name)).toEqual(['orders.csv']);
  expect(readdirSync(join(world.server.dataDir, 'files', String(deploymentId)))).toEqual(['orders.csv']);
  const { items: entries } = await world.admin.listAuditLog({ deploymentId, resourceType: 'dataFile' });
  expect(entries.map(({ operation, before }) => [operation, before === null])).toEqual([
    ['uploadDataFile', false],
    ['uploadDataFile', true],
  ]);
  await world.admin.deleteDataFile({ deploymentId, fileName: 'orders.csv' });
  expect((await world.admin.listDataFiles({ deploymentId })).items).toEqual([]);
  await expect(world.admin.deleteDataFile({ deploymentId, fileName: 'orders.csv' })).rejects.toMatchObject({
    code: 'data_file_not_found',
  });
});

test('what is refused changes nothing: names, other kinds, too many bytes, and people without the right', async () => {
  await upload('kept.csv', 'a\n1\n');
  for (const name of ['../up.csv', '.hidden.csv', 'a/b.csv', 'x.json'])
    await expect(upload(name, 'a\n')).rejects.toMatchObject({ status: expect.toSatisfy((n) => n >= 400) });
  await expect(upload('kept.parquet', 'PAR1')).rejects.toMatchObject({ code: 'data_file_name_taken' });
  await expect(upload('KEPT.csv', 'a\n2\n')).rejects.toMatchObject({ code: 'data_file_name_taken' });
  await expect(upload('other.parquet', 'a\n1\n')).rejects.toMatchObject({ code: 'data_file_invalid' });
  await expect(upload('zero.csv', 'a\0')).rejects.toMatchObject({ code: 'data_file_invalid' });
  await expect(upload('large.csv', 'a\n'.repeat(600_000))).rejects.toMatchObject({
    code: 'data_files_too_large',
  });
  const developer = (await world.person({ roles: ['Developer'] })).client;
  await expect(upload(`${unique('mine')}.csv`, 'a\n', developer)).rejects.toMatchObject({ status: 403 });
  expect((await world.admin.listDataFiles({ deploymentId })).items.map(({ name }) => name)).toEqual([
    'kept.csv',
  ]);
});

test('the limit is for all files of a deployment together, also for two that arrive at the same moment', async () => {
  const { id } = await world.deployment();
  const send = (fileName: string, text: string) =>
    world.admin.uploadDataFile({
      deploymentId: id,
      fileName,
      body: { contentType: 'text/csv', data: text },
    });
  const large = 'a\n'.repeat(300_000);
  const results = await Promise.allSettled(['a.csv', 'b.csv'].map((name) => send(name, large)));
  const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'stored'));
  expect(codes.sort()).toEqual(['data_files_too_large', 'stored']);
  const [stored] = (await world.admin.listDataFiles({ deploymentId: id })).items;
  // A file that is replaced makes room for the new one.
  expect(await send(stored!.name, `${large}b\n`)).toMatchObject({ size: large.length + 2 });
  await expect(send('third.csv', large)).rejects.toMatchObject({ code: 'data_files_too_large' });
});
