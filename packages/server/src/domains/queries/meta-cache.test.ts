import { compileModel, type Viewer } from '@oriel/semantic';
import { expect, test } from 'vitest';
import { createMetaCache } from './meta-cache.ts';

const { model } = compileModel(
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
  const of = (viewer: Partial<Viewer>) => cache.of(model!, { ...nobody, ...viewer }, false);
  const names = async (viewer: Partial<Viewer>) => {
    const { cubes } = JSON.parse(Buffer.from(await of(viewer)).toString());
    return cubes.flatMap(({ dimensions }: { dimensions: { name: string }[] }) =>
      dimensions.map(({ name }) => name),
    );
  };
  expect(await names({ groups: ['g'] })).toEqual(['a.open', 'a.closed']);
  expect(await names({ tenantGroups: ['g'] })).toEqual(['a.closed']);
  expect(await names({ roles: ['g'] })).toEqual(['a.open']);
  expect(await names({})).toEqual([]);
  const again = await of({ groups: ['g'], userAttributes: { region: 'eu' } });
  expect(again).toBe(await of({ groups: ['g'] }));
});
