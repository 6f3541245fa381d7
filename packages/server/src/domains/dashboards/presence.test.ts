/** Who edits one draft: heard over two servers, by those who may edit, and bounded. */

import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type Person, type World } from '../../../test/world.ts';

let world: World;
let elsewhere: string;
let deploymentId: number;
let workbookId: number;
const leaving: (() => void)[] = [];
beforeAll(async () => {
  world = await createWorld();
  elsewhere = (await world.anotherServer()).url;
  deploymentId = (await world.deployment()).id;
});
afterAll(async () => {
  for (const leave of leaving) leave();
  await world.stop();
});

async function editor(): Promise<Person> {
  const person = await world.person({ roles: ['Viewer'] });
  const { userId } = person;
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: 'WorkbookEdit' },
  });
  return person;
}
const clientAt = (url: string, { apiKey }: Person) => createOrielClient({ baseUrl: url, apiKey, retries: 0 });

type TabPresence = { userId: number; widgetId: string | null };
/** Listens like a tab. `seen` is what it heard last. */
function listen(url: string, person: Person, tab: string) {
  const stopping = new AbortController();
  const heard: { seen: TabPresence[]; count: number; ended?: unknown } = { seen: [], count: 0 };
  leaving.push(() => stopping.abort());
  const ended = (async () => {
    const events = await clientAt(url, person).watchDashboardDraft(
      { deploymentId, workbookId, tab },
      { signal: stopping.signal },
    );
    for await (const { data } of events) {
      heard.seen = data.people
        .map(({ userId, widgetId }) => ({ userId, widgetId }))
        .sort((a, b) => a.userId - b.userId);
      heard.count++;
    }
  })().catch((error) => {
    heard.ended = error;
  });
  return { heard, ended, leave: () => stopping.abort() };
}
const here = (person: Person, widgetId: string | null = null): TabPresence => ({
  userId: person.userId,
  widgetId,
});
const open = (url: string, person: Person, tab: string, widgetId: string | null) =>
  clientAt(url, person).updateDashboardPresence({ deploymentId, workbookId, body: { tab, widgetId } });

test('two people at two servers see each other, what each has open, and that one has left', async () => {
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Together' } })).id;
  const [ada, bob] = [await editor(), await editor()];
  const adas = listen(world.url, ada, 'tab-of-ada');
  await expect.poll(() => adas.heard.seen).toEqual([here(ada)]);
  const bobs = listen(elsewhere, bob, 'tab-of-bob');
  await expect.poll(() => adas.heard.seen).toEqual([here(ada), here(bob)]);
  await expect.poll(() => bobs.heard.seen).toEqual([here(ada), here(bob)]);
  // The request may reach another server than the stream.
  await open(world.url, bob, 'tab-of-bob', 'revenue');
  await expect.poll(() => adas.heard.seen).toEqual([here(ada), here(bob, 'revenue')]);
  await expect.poll(() => bobs.heard.seen).toEqual([here(ada), here(bob, 'revenue')]);
  // A user cannot speak for the tab of another user.
  await open(world.url, ada, 'tab-of-bob', 'costs');
  await open(world.url, ada, 'tab-of-ada', 'costs');
  await expect.poll(() => bobs.heard.seen).toEqual([here(ada, 'costs'), here(bob, 'revenue')]);
  bobs.leave();
  await expect.poll(() => adas.heard.seen).toEqual([here(ada, 'costs')]);
  adas.leave();
});

test('those who edit another draft, or may not edit, hear nothing', async () => {
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Apart' } })).id;
  const ada = await editor();
  const reader = await world.person({ roles: ['Viewer'] });
  await expect(
    clientAt(world.url, reader).watchDashboardDraft({ deploymentId, workbookId, tab: 'tab-of-reader' }),
  ).rejects.toMatchObject({ status: 404 });
  await expect(open(world.url, reader, 'tab-of-reader', null)).rejects.toMatchObject({ status: 404 });
  const adas = listen(world.url, ada, 'tab-of-ada');
  await expect.poll(() => adas.heard.seen).toEqual([here(ada)]);
  // A user who loses the right does not hear of users who come later.
  const { userId } = ada;
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: null },
  });
  const bob = await editor();
  const bobs = listen(world.url, bob, 'tab-of-bob');
  await adas.ended;
  expect(adas.heard.seen).toEqual([here(ada)]);
  await expect.poll(() => bobs.heard.seen).toEqual([here(bob)]);
  bobs.leave();
});

test('one person listens with ten tabs at most', async () => {
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Many' } })).id;
  const ada = await editor();
  const tabs = [...Array(10).keys()].map((i) => listen(world.url, ada, `tab-number-${i}`));
  await expect.poll(() => tabs[0]!.heard.seen).toHaveLength(10);
  await expect(
    clientAt(world.url, ada).watchDashboardDraft({ deploymentId, workbookId, tab: 'tab-number-10' }),
  ).rejects.toMatchObject({ status: 429 });
  tabs[0]!.leave();
  await expect.poll(() => tabs[1]!.heard.seen).toHaveLength(9);
  const again = listen(world.url, ada, 'tab-number-10');
  await expect.poll(() => again.heard.seen).toHaveLength(10);
});

test('a tab listens once: a newer stream of it ends the older one, so that no name is a way around the limit', async () => {
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Once' } })).id;
  const [ada, bob] = [await editor(), await editor()];
  const older = listen(world.url, ada, 'tab-of-ada');
  await expect.poll(() => older.heard.seen).toEqual([here(ada)]);
  const newer = listen(world.url, ada, 'tab-of-ada');
  await older.ended;
  expect(older.heard.ended).toBeUndefined();
  // Others still see them, and they still see others.
  const bobs = listen(world.url, bob, 'tab-of-bob');
  await expect.poll(() => bobs.heard.seen).toEqual([here(ada), here(bob)]);
  await expect.poll(() => newer.heard.seen).toEqual([here(ada), here(bob)]);
});
