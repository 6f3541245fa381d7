/** A viewer of one embed tenant gets nothing of another one, by any operation that an embed token can call. */
import { allOperations, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, requestOf } from './samples.ts';
import { createShop, shopWith } from './shops.ts';
import { createWorld, type EmbeddedSession, unique, type World } from './world.ts';

/** Each embed tenant sees the customers of its own region. */
const POLICY = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ securityContext.region }"] }] }
`;
const TITLE = unique('Secrets of acme');

let world: World;
let deploymentId: number;
let acme: EmbeddedSession;
let globex: EmbeddedSession;
/** What acme has: dashboards that only it may see, and what its creator made. */
const own: Record<'given' | 'made', string> = { given: '', made: '' };
/** The ids of content, by the names of their path parameters. */
const WHAT = { workbookId: 0, folderId: 0, reportId: 0, id: 0 };
let ids: Record<string, number>;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world, shopWith(POLICY));
  const [acmeCorp, globexCorp] = [unique('acme').replaceAll('_', '-'), unique('globex').replaceAll('_', '-')];
  const sign = (embedTenantName: string, region: string, creatorMode: boolean) =>
    world.embedded({
      deploymentId,
      externalId: unique('viewer'),
      embedTenantName,
      creatorMode,
      securityContext: { region },
    });
  acme = await sign(acmeCorp, 'EMEA', true);
  globex = await sign(globexCorp, 'AMER', true);
  const publish = async (client: World['admin']) => {
    const { id: workbookId } = await client.createWorkbook({ deploymentId, body: { name: TITLE } });
    const body = { config: {}, title: TITLE, allowEmbed: true };
    const { publicId } = await client.publishDashboard({ deploymentId, workbookId, body });
    return { workbookId, publicId };
  };
  const given = await publish(world.admin);
  await world.admin.updateEmbedAccess({
    deploymentId,
    workbookId: given.workbookId,
    body: { embedTenantName: acmeCorp, action: 'read' },
  });
  const made = await publish(acme.client);
  const folder = await acme.client.createFolder({ deploymentId, body: { name: TITLE } });
  const report = await acme.client.createReport({
    deploymentId,
    body: { name: TITLE, workbookId: made.workbookId },
  });
  const inFolder = { name: TITLE, folderId: folder.id };
  await acme.client.createFolder({ deploymentId, body: { name: TITLE, parentId: folder.id } });
  await acme.client.createWorkbook({ deploymentId, body: inFolder });
  await acme.client.createReport({ deploymentId, body: inFolder });
  const schedule = await acme.client.createNotification({
    deploymentId,
    body: { dashboardPublicId: made.publicId, scheduleType: 'DAILY', hour: 6, name: TITLE },
  });
  Object.assign(own, { given: given.publicId, made: made.publicId });
  ids = { workbookId: made.workbookId, folderId: folder.id, reportId: report.id, id: schedule.id };
});
afterAll(() => world.stop());

const ask = async ({ token }: EmbeddedSession, method: string, path: string, body?: object) => {
  const reply = await world.raw(method, path, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: reply.status, text: await reply.text() };
};

describe('a dashboard', () => {
  test.each(['given', 'made'] as const)(
    'that was %s for another one is the same 404 as none',
    async (which) => {
      const read = async (who: EmbeddedSession, publicId: string) => {
        const { status, text } = await ask(who, 'GET', `/api/v1/embed/dashboard/${publicId}`);
        const { requestId: _, ...rest } = JSON.parse(text);
        return { status, text: JSON.stringify(rest).replaceAll(publicId, '') };
      };
      expect((await read(acme, own[which])).text).toContain(TITLE);
      const refused = await read(globex, own[which]);
      expect(refused.status).toBe(404);
      expect(refused).toEqual(await read(globex, 'NoSuchThing0'));
    },
  );
});

/** Any operation that an embed token can call. A stream of one's own session says nothing of others. */
const open = allOperations.filter(({ embed, id }) => embed && id !== 'watchEmbedSession');
const MISSING = 999_999_999;
/** Bodies of operations that would refuse the smallest body before they look for the resource. */
const BODIES: Record<string, object> = {
  addRecipients: { recipients: [{ type: 'EMBED_USER', externalId: 'ann' }] },
};
const send = (op: Operation, given: Record<string, number>) => {
  const { headers, ...rest } = requestOf(op, BODIES[op.id]);
  const authorization = `Bearer ${globex.token}`;
  const address = addressOf(op, { ...given, deploymentId });
  return world.raw(op.method, address, { headers: { ...headers, authorization }, ...rest });
};
const answer = async (reply: Response) => {
  const { requestId: _, ...rest } = (await reply.json()) as Record<string, unknown>;
  return { status: reply.status, rest };
};
const cases = (list: readonly Operation[]) => list.map((op) => [op.id, op] as const);
/** `id` is that of a notification. */
const names = (op: Operation) => Object.keys(op.params).filter((name) => name in WHAT);

describe('what the creator of another one made is the same 404 as what does not exist', () => {
  test.each(cases(open.filter((op) => names(op).length > 0)))('%s', async (_id, op) => {
    const [name] = names(op);
    const refused = await answer(await send(op, { [name!]: ids[name!]! }));
    expect(refused.status).toBe(404);
    expect(refused).toEqual(await answer(await send(op, { [name!]: MISSING })));
  });

  test('moves and deletions of several', async () => {
    const attempts = async (id: number) => {
      const item = { id, type: 'WORKBOOK' as const };
      const { client } = globex;
      const all = await Promise.all([
        client
          .moveWorkspaceObject({ deploymentId, body: { ...item, folderId: null } })
          .catch(({ code }) => code),
        client.bulkMoveWorkspaceObjects({ deploymentId, body: { items: [item], folderId: null } }),
        client.bulkDeleteWorkspaceObjects({ deploymentId, body: { items: [item] } }),
      ]);
      return JSON.parse(JSON.stringify(all).replaceAll(`"id":${id},`, ''));
    };
    const refused = await attempts(ids.workbookId!);
    expect(refused).toEqual(await attempts(MISSING));
    expect(refused).toMatchObject([
      'workbook_not_found',
      { moved: [], failed: [{}] },
      { deleted: [], failed: [{}] },
    ]);
  });

  test('and it is all still there', async () => {
    const { workbookId, folderId, reportId, id } = ids as Record<keyof typeof WHAT, number>;
    expect(await acme.client.getNotification({ deploymentId, id })).toMatchObject({ name: TITLE });
    expect(await acme.client.getWorkbook({ deploymentId, workbookId })).toMatchObject({ name: TITLE });
    expect(await acme.client.getReport({ deploymentId, reportId })).toMatchObject({ name: TITLE });
    const { data } = await acme.client.getFolders({ deploymentId });
    expect(data.map(({ id }) => id)).toContain(folderId);
  });
});

test('a list of the own things names nothing of another one, by whatever of it the list is asked for', async () => {
  const { publicId, workbookId, folderId } = { publicId: own.made, ...ids } as Record<string, string>;
  for (const path of [
    `notifications?dashboardPublicId=${publicId}`,
    `reports?workbookId=${workbookId}`,
    `reports?folderId=${folderId}`,
    `reports?search=${encodeURIComponent(TITLE)}`,
    `workspace?search=${encodeURIComponent(TITLE)}`,
    `workspace?folderId=${folderId}`,
    `workbooks?folderId=${folderId}`,
    `folders?parentId=${folderId}`,
  ]) {
    const at = `/api/v1/deployments/${deploymentId}/${path}`;
    expect([path, (await ask(acme, 'GET', at)).text]).toEqual([path, expect.stringContaining(TITLE)]);
    expect([path, (await ask(globex, 'GET', at)).text]).toEqual([path, expect.not.stringContaining(TITLE)]);
  }
});

describe('no answer holds a name of another one', () => {
  test.each(cases(open.filter((op) => op.method === 'GET' && names(op).length === 0)))(
    '%s',
    async (_id, op) => {
      expect(await (await send(op, {})).text()).not.toContain(TITLE);
    },
  );
});

/** Requests whose answers hold rows, or texts that could come from rows. */
const QUERY = { measures: ['sales.count'], dimensions: ['sales.name'] };
const NAMED = { ...QUERY, filters: [{ member: 'sales.name', operator: 'equals', values: ['Ada'] }] };
const base = () => `/query/api/v1/deployments/${deploymentId}`;
const byAddress = (query: object) => `query=${encodeURIComponent(JSON.stringify(query))}`;
const people = (text: string) => [...new Set(text.match(/Ada|Bob|Cyd/g))].toSorted();

describe('rows', () => {
  const loads: [string, (query: object) => [method: string, path: string, body?: object]][] = [
    ['load', (query) => ['POST', `${base()}/load`, { query }]],
    ['loadByAddress', (query) => ['GET', `${base()}/load?${byAddress(query)}`]],
  ];
  test.each(loads)('of another one do not come by %s', async (_id, to) => {
    expect(people((await ask(acme, ...to(QUERY))).text)).toEqual(['Ada', 'Cyd']);
    expect(people((await ask(globex, ...to(QUERY))).text)).toEqual(['Bob']);
    expect(JSON.parse((await ask(globex, ...to(NAMED))).text).data).toEqual([]);
  });

  test('of another one do not come by runSql', async () => {
    const query = 'select name, measure(count) from sales group by 1';
    const run = async (who: EmbeddedSession) =>
      people((await ask(who, 'POST', `${base()}/cubesql`, { query })).text);
    expect([await run(acme), await run(globex)]).toEqual([['Ada', 'Cyd'], ['Bob']]);
  });

  test.each(['dry-run', 'meta'])('and their region are in no answer of %s', async (name) => {
    const replies = [
      await ask(globex, 'POST', `${base()}/${name}`, name === 'meta' ? {} : { query: QUERY }),
      await ask(globex, 'GET', `${base()}/${name}?${name === 'meta' ? '' : byAddress(QUERY)}`),
    ];
    for (const { status, text } of replies) {
      expect(status).toBe(200);
      expect(text).not.toMatch(/Ada|Cyd|EMEA/);
    }
  });
});
