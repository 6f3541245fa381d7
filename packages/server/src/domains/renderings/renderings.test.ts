/** Dashboards as pictures and PDF, as their readers get them from the API. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, assert, beforeAll, describe, expect, test, vi } from 'vitest';
import { whenBuilt } from '../../../test/shops.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import { createRenderings, DrawingLostError } from './index.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, 1);
});
afterAll(() => world?.stop());

const FOLDER = process.env.ORIEL_PICTURES;

const workbookOf = async (publicId: string) => (await world.admin.getDashboard({ publicId })).workbookId;
const pathOf = async (publicId: string, query: string) =>
  `/api/v1/deployments/1/workbooks/${await workbookOf(publicId)}/dashboard/export?${query}`;

async function exported(publicId: string, query: string, token?: string) {
  const init = token ? { apiKey: null, headers: { authorization: `Bearer ${token}` } } : {};
  const response = await world.raw('GET', await pathOf(publicId, query), init);
  const bytes = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    json: () => JSON.parse(bytes.toString()),
  };
}

const viewerOf = (region: string, externalId = `${region}-viewer`) =>
  world.embedded({
    deploymentId: 1,
    externalId,
    embedTenantName: 'acme-corp',
    userAttributes: [{ name: 'region', value: region }],
  });

test.each(['DemoCommerce', 'DemoOpsBoard'])(
  '%s is a picture of twice the density, and a PDF',
  async (publicId) => {
    const png = await exported(publicId, 'format=png');
    if (FOLDER) await writeFile(`${FOLDER}/${publicId}.png`, png.bytes);
    expect(png.status, png.status === 200 ? '' : png.bytes.toString()).toBe(200);
    expect(png.headers.get('content-type')).toBe('image/png');
    expect(png.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\w ]+\.png"; filename\*=UTF-8''/,
    );
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(png.bytes.readUInt32BE(16)).toBe(2400);
    const pdf = await exported(publicId, 'format=pdf&scheme=dark&locale=ja&timezone=Asia%2FTokyo');
    if (FOLDER) await writeFile(`${FOLDER}/${publicId}.pdf`, pdf.bytes);
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(pdf.bytes.subarray(0, 8).toString()).toBe('%PDF-1.7');
    expect(Number(/\/Count (\d+)/.exec(pdf.bytes.toString('latin1'))![1])).toBeGreaterThan(1);
  },
  180_000,
);

/** Two pictures are the same only if they tell the same time, so the clock stands still meanwhile. */
async function atOneTime<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

test('each viewer gets their own rows: the same picture in one region, and another one in another', async () => {
  const [ann, ben, cleo] = await Promise.all([
    viewerOf('EU', 'ann'),
    viewerOf('EU', 'ben'),
    viewerOf('APAC', 'cleo'),
  ]);
  const [anns, bens, cleos] = await atOneTime(async () => {
    const pictures: Buffer[] = [];
    for (const { token } of [ann, ben, cleo]) {
      const { status, bytes } = await exported('DemoOpsBoard', 'format=png', token);
      expect(status).toBe(200);
      pictures.push(bytes);
    }
    return pictures;
  });
  expect(anns!.equals(bens!)).toBe(true);
  expect(anns!.equals(cleos!)).toBe(false);
});

/** One chart, whose rows are asked for and then not looked at. */
const EMPTY = {
  deploymentId: 1,
  title: 'Empty',
  description: null,
  config: {
    widgets: [{ id: 'c', type: 'CHART', position: { x: 0, y: 0, w: 4, h: 4 }, config: { reportId: 1 } }],
  },
  reportSnapshots: [{ reportId: 1, kind: 'kpi', meta: { query: { measures: ['sales.revenue'] } } }],
};

test('a picture with an empty chart is drawn twice more from rows that are read again, and then an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-blank-'));
  const script = pathToFileURL(join(folder, 'thread.mjs'));
  // Answers as the thread does when it finds one colour: twice, and after a picture for ever.
  await writeFile(
    script,
    `let asked = 0;
     const blank = { failure: { title: '', reason: 'the picture has one colour only', isBlank: true } };
     process.on('message', () => process.send(++asked === 3 ? { bytes: Buffer.of(1), title: String(asked) } : blank));`,
  );
  const renewed: boolean[] = [];
  const queries = {
    load: (_call: unknown, _query: unknown, { isRenewed }: { isRenewed: boolean }) => {
      renewed.push(isRenewed);
      return Promise.resolve(Buffer.from('{}'));
    },
    meta: () => assert.fail(),
    viewer: () => assert.fail(),
  };
  const drawing = createRenderings({ queries, script });
  const { userId } = await world.person();
  const actor = { kind: 'person', userId } as Caller;
  const dashboard = EMPTY;
  const { signal } = new AbortController();
  const render = () =>
    drawing.render({ actor, db: world.server.db, signal }, { dashboard: dashboard as never, format: 'png' });
  try {
    expect((await render()).title).toBe('3');
    expect(renewed).toEqual([false, true, true]);
    await expect(render()).rejects.toMatchObject({
      code: 'rendering_failed',
      message: expect.stringContaining('one colour'),
    });
  } finally {
    await drawing.stop();
    await rm(folder, { recursive: true });
  }
});

test('only so many calls of one person have their rows in memory while they wait to be drawn', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-many-'));
  const script = pathToFileURL(join(folder, 'thread.mjs'));
  await writeFile(
    script,
    `process.on('message', () => setTimeout(() => process.send({ bytes: Buffer.of(1), title: '' }), 50));`,
  );
  let reading = 0;
  let most = 0;
  const queries = {
    load: () => {
      most = Math.max(most, ++reading);
      return Promise.resolve(Buffer.from('{}'));
    },
    meta: () => assert.fail(),
    viewer: () => assert.fail(),
  };
  const drawing = createRenderings({ queries, script });
  const { userId } = await world.person();
  const actor = { kind: 'person', userId } as Caller;
  const { signal } = new AbortController();
  const render = () =>
    drawing
      .render({ actor, db: world.server.db, signal }, { dashboard: EMPTY as never, format: 'png' })
      .finally(() => reading--);
  try {
    const outcomes = await Promise.allSettled(Array.from({ length: 14 }, render));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect([refused.length, most]).toEqual([3, 6]);
    expect(refused[0]).toMatchObject({ reason: { code: 'too_many_at_once' } });
  } finally {
    await drawing.stop();
    await rm(folder, { recursive: true });
  }
});

test('a process that hangs, dies, aborts or eats memory fails its own picture, and the next one is drawn', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-lost-'));
  const script = pathToFileURL(join(folder, 'thread.mjs'));
  await writeFile(
    script,
    `process.on('message', ({ dashboard }) => {
       if (dashboard.title === 'hangs') for (;;);
       if (dashboard.title === 'dies') process.exit(3);
       if (dashboard.title === 'aborts') process.abort();
       if (dashboard.title === 'eats') for (const all = []; ; ) all.push({ a: [all.length] });
       setTimeout(() => process.send({ bytes: Buffer.of(1), title: dashboard.title }), 20);
     });`,
  );
  const queries = {
    load: () => Promise.resolve(Buffer.from('{}')),
    meta: () => assert.fail(),
    viewer: () => assert.fail(),
  };
  const drawing = createRenderings({ queries, script, limits: { timeMs: 500, memoryMb: 32 } });
  const { signal } = new AbortController();
  const people = await Promise.all([world.person(), world.person()]);
  const render = (title: string, who = 0) =>
    drawing.render(
      { actor: { kind: 'person', userId: people[who]!.userId } as Caller, db: world.server.db, signal },
      { dashboard: { ...EMPTY, title } as never, format: 'png' },
    );
  try {
    for (const title of ['hangs', 'dies', 'aborts', 'eats']) {
      const lost = expect(render(title)).rejects.toBeInstanceOf(DrawingLostError);
      expect((await render('beside', 1)).title).toBe('beside');
      await lost;
      expect((await render('after')).title).toBe('after');
    }
  } finally {
    await drawing.stop();
    await rm(folder, { recursive: true });
  }
});

describe('a dashboard of one chart', () => {
  const place = { x: 0, y: 0, w: 12, h: 4 };
  const QUERY = { measures: ['sales.revenue'], dimensions: ['sales.product_category'] };
  const FILTER = {
    id: 'f',
    type: 'FILTER',
    position: { x: 0, y: 4, w: 3, h: 1 },
    config: { member: 'sales.product_category', kind: 'select', title: 'Category' },
  };
  let publicId: string;
  let workbookId: number;

  async function publish(config: object = {}, widgets: object[] = []) {
    const report = { name: 'Revenue', jsonQuery: JSON.stringify(QUERY), meta: null };
    const { id: reportId } = await world.admin.createReport({ deploymentId: 1, body: report });
    const chart = {
      id: 'c',
      type: 'CHART',
      position: place,
      config: { reportId, title: 'Revenue by category' },
    };
    const given = { widgets: [chart, FILTER, ...widgets], ...config };
    const dashboard = await world.admin.publishDashboard({
      deploymentId: 1,
      workbookId,
      body: { config: given as never },
    });
    publicId = dashboard.publicId;
  }
  beforeAll(async () => {
    workbookId = (await world.admin.createWorkbook({ deploymentId: 1, body: { name: 'Export' } })).id;
    await publish();
  });
  const get = (query: string) => exported(publicId, query);
  const filters = (...list: unknown[]) => `&filters=${encodeURIComponent(JSON.stringify(list))}`;
  const KNOWN = { member: 'sales.product_category', operator: 'equals', value: ['Desks'] };

  test('is filtered as asked, and never unfiltered because a filter is gone', async () => {
    const [all, desks] = [await get('format=png'), await get(`format=png${filters(KNOWN)}`)];
    expect([all.status, desks.status]).toEqual([200, 200]);
    expect(all.bytes.equals(desks.bytes)).toBe(false);
    const gone = await get(`format=png${filters({ ...KNOWN, member: 'sales.customer_country' })}`);
    expect(gone.status).toBe(409);
    expect(gone.json()).toMatchObject({
      code: 'rendering_failed',
      message: expect.stringContaining('sales.customer_country'),
    });
    const grain = `&timeGrains=${encodeURIComponent('[{"member":"sales.ordered_at","grain":"month"}]')}`;
    expect((await get(`format=png${grain}`)).status).toBe(409);
  });

  test('is filtered by a click on a chart where its author lets clicks filter', async () => {
    const clicked = (...list: unknown[]) => `&crossFilters=${encodeURIComponent(JSON.stringify(list))}`;
    const DESKS = { widgetId: 'c', member: 'sales.product_category', value: 'Desks' };
    expect((await get(`format=png${clicked(DESKS)}`)).status).toBe(409);
    const { reportId } = (await world.admin.getDashboard({ publicId })).reportSnapshots[0]!;
    const chart = (id: string, crossFilter?: true) => ({
      ...{ id, type: 'CHART', position: place },
      config: { reportId, title: id, crossFilter },
    });
    await publish({ widgets: [chart('c', true), chart('d')] });
    const [all, desks, other] = await atOneTime(() =>
      Promise.all([
        get('format=png'),
        get(`format=png${clicked(DESKS)}`),
        get(`format=png${clicked({ ...DESKS, value: null })}`),
      ]),
    );
    expect([all!.status, desks!.status, other!.status]).toEqual([200, 200, 200]);
    expect(all!.bytes.equals(desks!.bytes) || desks!.bytes.equals(other!.bytes)).toBe(false);
    const member = 'sales.customer_country';
    for (const wrong of [
      { widgetId: 'd' },
      { member },
      { value: undefined, range: ['2026-01-01', '2026-02-01'] },
    ])
      expect((await get(`format=png${clicked({ ...DESKS, ...wrong })}`)).status).toBe(409);
    for (const wrong of [{ value: 1 }, { value: undefined }, { range: ['2026-01-01'] }, { more: 'x' }])
      expect((await get(`format=png${clicked({ ...DESKS, ...wrong })}`)).status).toBe(400);
    await publish();
  });

  test.each([
    ['format=gif', 'format'],
    ['format=png&filters=nonsense', 'filters'],
    ['format=png&filters=%7B%7D', 'filters'],
    ['format=png&filters=%5B%7B%7D%5D', 'filters'],
    [`format=png${filters({ ...KNOWN, operator: 'custom' })}`, 'filters[0]'],
    [`format=png${filters({ ...KNOWN, value: [] })}`, 'filters[0]'],
    [`format=png${filters({ ...KNOWN, operator: 'between', value: null })}`, 'filters[0]'],
    [`format=png${filters(KNOWN, { ...KNOWN, value: ['Chairs'] })}`, 'filters[1].member'],
    ['format=png&timezone=Mars/X', 'timezone'],
    ['format=png&timeGrains=%5B%7B%22member%22%3A%22a.b%22%7D%5D', 'timeGrains'],
  ])('with %s is a 400', async (query, name) => {
    const { status, json } = await get(query);
    expect(status).toBe(400);
    expect(JSON.stringify(json())).toContain(name);
  });

  test('that restricts downloads is closed, and what one does not see is not there', async () => {
    const stranger = await world.person({ roles: ['Viewer'] });
    const path = await pathOf(publicId, 'format=png');
    expect((await world.raw('GET', path, { apiKey: stranger.apiKey })).status).toBe(404);
    expect((await world.raw('GET', path.replace(`/${workbookId}/`, '/999999/'))).status).toBe(404);
    const { token } = await viewerOf('EU', 'dora');
    expect((await exported(publicId, 'format=png', token)).status).toBe(404);
    await publish({ settings: { restrictDataDownload: true } });
    const restricted = await get('format=pdf');
    expect([restricted.status, restricted.json().code]).toEqual([403, 'forbidden']);
    await publish();
  });

  test('whose chart fails is not drawn, and the error names the chart', async () => {
    await world.server.db.pool.query(
      `update dashboard_versions v set snapshots = jsonb_set(snapshots, '{0,query,measures}', '["sales.no_such"]')
       from dashboards d where d.id = v.dashboard_id and d.version_number = v.number and d.public_id = $1`,
      [publicId],
    );
    const { status, json } = await get('format=png');
    expect(status).toBe(409);
    expect(json()).toMatchObject({
      code: 'rendering_failed',
      message: expect.stringContaining('“Revenue by category”'),
    });
    await publish();
  });

  const SPEC = { data: [{ name: 'rows' }], marks: [{ type: 'rect', from: { data: 'rows' } }] };
  test.each(["modify('rows', null, null, null, { a: 1 }, { a: 2 })", "setdata('rows', [])"])(
    'whose chart would call %s is not drawn',
    async (expression) => {
      // As if the rules for charts had let it pass.
      await world.server.db.pool.query(
        `update dashboard_versions v set snapshots = jsonb_set(snapshots, '{0}', snapshots->0 || $2)
         from dashboards d where d.id = v.dashboard_id and d.version_number = v.number and d.public_id = $1`,
        [
          publicId,
          JSON.stringify({ kind: 'vega', spec: { ...SPEC, signals: [{ name: 'a', init: expression }] } }),
        ],
      );
      const { status, json } = await get('format=png');
      expect([status, json().message]).toEqual([409, expect.stringContaining('The chart cannot use')]);
      await publish();
    },
  );

  test('of many requests of one caller some wait, and the rest are told to come back', async () => {
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => get('format=png')))).map(
      ({ status }) => status,
    );
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });
});
