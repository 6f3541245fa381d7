/** Each embed tenant has its own slugs in each deployment: nobody sees, or is blocked by, a slug of another tenant. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbedding, type Embedding } from '../../../test/embedding.ts';
import type { EmbeddedSession, World } from '../../../test/world.ts';

let embedding: Embedding;
let world: World;
let deploymentId: number;
let acme: EmbeddedSession['client'];
let globex: EmbeddedSession['client'];
beforeAll(async () => {
  embedding = await createEmbedding();
  ({ world, deploymentId } = embedding);
  const creator = async (embedTenantName: string) =>
    (await world.embedded(embedding.request({ embedTenantName, creatorMode: true }))).client;
  acme = await creator('acme-corp');
  globex = await creator('globex-inc');
});
afterAll(() => embedding.stop());

test('each embed tenant and the main workspace can use the same slug', async () => {
  const slug = 'sales';
  const clients = [world.admin, acme, globex];
  const made = await Promise.all(
    clients.map((client, i) =>
      client.upsertWorkbookBySlug({ deploymentId, slug, body: { name: `of ${i}` } }),
    ),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(3);
  for (const [i, client] of clients.entries()) {
    const again = await client.upsertWorkbookBySlug({ deploymentId, slug, body: { meta: { i } } });
    expect(again).toMatchObject({ id: made[i]!.id, name: `of ${i}`, slug });
  }
});

test('a slug is taken, and can be taken over, within one embed tenant only', async () => {
  const holders = await Promise.all(
    [world.admin, acme].map((client) =>
      client.upsertWorkbookBySlug({ deploymentId, slug: 'wanted', body: {} }),
    ),
  );
  const taker = await acme.createWorkbook({ deploymentId, body: {} });
  const take = (slugTakeover: boolean) =>
    acme.updateWorkbook({ deploymentId, workbookId: taker.id, body: { slug: 'wanted', slugTakeover } });
  await expect(take(false)).rejects.toMatchObject({ status: 409, code: 'slug_taken' });
  expect(await take(true)).toMatchObject({ slug: 'wanted' });
  expect(await acme.getWorkbook({ deploymentId, workbookId: holders[1]!.id })).toMatchObject({ slug: null });
  expect(await world.admin.getWorkbook({ deploymentId, workbookId: holders[0]!.id })).toMatchObject({
    slug: 'wanted',
  });

  const stranger = await globex.createWorkbook({ deploymentId, body: {} });
  const body = { slug: 'wanted', slugTakeover: true };
  expect(await globex.updateWorkbook({ deploymentId, workbookId: stranger.id, body })).toMatchObject({
    slug: 'wanted',
  });
  expect(await acme.getWorkbook({ deploymentId, workbookId: taker.id })).toMatchObject({ slug: 'wanted' });
});

test('an upsert into a folder of an embed tenant looks for the slug in that tenant', async () => {
  const folder = await acme.createFolder({ deploymentId, body: { name: 'shared' } });
  const ours = await world.admin.upsertWorkbookBySlug({ deploymentId, slug: 'placed', body: {} });
  const into = () =>
    world.admin.upsertWorkbookBySlug({ deploymentId, slug: 'placed', body: { folderId: folder.id } });
  const theirs = await into();
  expect(theirs.id).not.toBe(ours.id);
  expect((await into()).id).toBe(theirs.id);
  expect(await acme.upsertWorkbookBySlug({ deploymentId, slug: 'placed', body: {} })).toMatchObject({
    id: theirs.id,
  });
});
