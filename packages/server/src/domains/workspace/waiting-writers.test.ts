/** A writer who waits for another writer works with the result of the other one, not with older data. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdRows } from '../../../test/hold.ts';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

const make = {
  reports: async () => (await world.admin.createReport({ deploymentId, body: { name: 'before' } })).id,
  workbooks: async () => (await world.admin.createWorkbook({ deploymentId, body: { name: 'before' } })).id,
};

test.each([
  ['reports', '', { name: 'mine' }],
  ['workbooks', '', { name: 'mine' }],
  ['workbooks', '/dashboard', { dashboardDraft: null }],
] as const)(
  '%s%s: a change with an old version is refused, and the other change stays',
  async (noun, part, body) => {
    const id = await make[noun]();
    const path = `/api/v1/deployments/${deploymentId}/${noun}/${id}`;
    const etag = (await world.raw('GET', path)).headers.get('etag')!;
    const hold = await holdRows(world, noun, [id]);
    const change = world.raw('PUT', path + part, {
      headers: { 'content-type': 'application/json', 'if-match': etag },
      body: JSON.stringify(body),
    });
    await hold.waiting();
    await hold.release(`update ${noun} set name = 'theirs', updated_at = now() where id = any($1)`);
    expect((await change).status).toBe(412);
    expect(await (await world.raw('GET', path)).json()).toMatchObject({ name: 'theirs' });
  },
);

test.each(['reports', 'workbooks'] as const)(
  '%s: the audit entry of a change shows the values that it replaced',
  async (noun) => {
    const id = await make[noun]();
    const hold = await holdRows(world, noun, [id]);
    const change = world.raw('PUT', `/api/v1/deployments/${deploymentId}/${noun}/${id}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mine' }),
    });
    await hold.waiting();
    await hold.release(`update ${noun} set name = 'theirs', updated_at = now() where id = any($1)`);
    expect((await change).status).toBe(200);
    const { rows } = await world.server.db.pool.query(
      `select before ->> 'name' as before, after ->> 'name' as after from audit_log
     where resource_type = $1 and resource_id = $2 order by id desc limit 1`,
      [noun.slice(0, -1), String(id)],
    );
    expect(rows).toEqual([{ before: 'theirs', after: 'mine' }]);
  },
);
