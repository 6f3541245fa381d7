import { compileModel, type Viewer } from '@oriel/semantic';
import { expect, test, vi } from 'vitest';
import { createMetaCache } from './meta-cache.ts';

const { model: guarded } = compileModel(
  new Map([
    [
      'model/a.yml',
      `cubes:
  - name: a
    sql_table: a
    dimensions: [{ name: open, sql: x, type: string }, { name: closed, sql: y, type: string }]
    access_policy:
      - { group: g, member_level: { includes: "*" } }
      - { group: "tenant:g", member_level: { includes: [closed] } }
      - { group: "role:g", member_level: { includes: [open] } }
`,
    ],
  ]),
);

const bare = compileModel(
  new Map([
    ['model/b.yml', 'cubes: [{ name: b, sql_table: b, dimensions: [{ name: free, sql: x, type: string }] }]'],
  ]),
).model!;

test('what can be queried is kept for viewers of the same groups, tenant groups and roles only', async () => {
  const cache = createMetaCache();
  const nobody = {
    groups: [],
    tenantGroups: [],
    roles: [],
    userAttributes: {},
    securityContext: {},
    seesUnguarded: true,
  };
  const of = (viewer: Partial<Viewer>, model = guarded!, onlyViews = false) =>
    cache.of(model, { ...nobody, ...viewer }, onlyViews);
  const names = async (...asked: Parameters<typeof of>) => {
    const { cubes } = JSON.parse(Buffer.from(await of(...asked)).toString());
    return cubes.flatMap(({ dimensions }: { dimensions: { name: string }[] }) =>
      dimensions.map(({ name }) => name),
    );
  };
  expect(await names({ groups: ['g'] })).toEqual(['a.open', 'a.closed']);
  expect(await names({ tenantGroups: ['g'] })).toEqual(['a.closed']);
  expect(await names({ roles: ['g'] })).toEqual(['a.open']);
  expect(await names({})).toEqual([]);
  expect(await names({ groups: ['g'] }, guarded, true)).toEqual([]);
  expect(await names({ groups: ['g'] }, bare)).toEqual(['b.free']);
  expect(await names({ groups: ['g'], seesUnguarded: false }, bare)).toEqual([]);
  const again = await of({ groups: ['g'], userAttributes: { region: 'eu' } });
  expect(again).toBe(await of({ groups: ['g'] }));
});

test('a text that takes long to write lets other work go on meanwhile', async () => {
  // Each look at the clock is a second later.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
  const nobody = { groups: [], tenantGroups: [], roles: [], userAttributes: {}, securityContext: {} };
  const done: string[] = [];
  setImmediate(() => done.push('other work'));
  try {
    await createMetaCache().of(bare, { ...nobody, seesUnguarded: true }, false);
  } finally {
    vi.restoreAllMocks();
  }
  expect([...done, 'the text']).toEqual(['other work', 'the text']);
});
