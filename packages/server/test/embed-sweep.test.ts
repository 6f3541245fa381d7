/** Checks which operations embed tokens can call, for every operation of the contract, including future ones. */
import { allOperations, isDeploymentOperation, type Operation, operations } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOf, requestOf } from './samples.ts';
import { createWorld, type EmbeddedSession, unique, type World } from './world.ts';

let world: World;
let deploymentId: number;
let otherDeploymentId: number;
let embedded: Record<
  'a viewer' | 'a creator' | 'an internal viewer' | 'an internal creator',
  EmbeddedSession
>;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = (await world.deployment()).id;
  otherDeploymentId = (await world.deployment()).id;
  const inAcme = { deploymentId, embedTenantName: 'acme-corp' };
  // The internal user is an admin, but the embedded page does not get the rights of their roles.
  const internalId = unique('admin');
  const body = { username: internalId, email: `${internalId}@example.com`, roles: ['Admin'] };
  await world.admin.createUser({ body });
  embedded = {
    'a viewer': await world.embedded({ ...inAcme, externalId: 'ann' }),
    'a creator': await world.embedded({ ...inAcme, externalId: 'bob', creatorMode: true }),
    'an internal viewer': await world.embedded({ ...inAcme, internalId }),
    'an internal creator': await world.embedded({ ...inAcme, internalId, creatorMode: true }),
  };
});
afterAll(() => world.stop());

const WHO = ['a viewer', 'a creator', 'an internal viewer', 'an internal creator'] as const;
type CallerKind = (typeof WHO)[number];

/** The status that the smallest valid body gets, where the operation needs more than its schema says. */
const NEEDS_MORE: Record<string, number> = {
  createNotification: 400,
  addRecipients: 400,
  previewReport: 400,
  // The example names a viewer, and an embedded viewer cannot look as another one.
  explainQuery: 400,
};

const isOpenTo = (who: CallerKind, { embed }: Operation) =>
  embed === 'viewer' || (embed === 'creator' && who.endsWith('creator'));

const send = (who: CallerKind, op: Operation, at: number, scheme = 'Bearer') => {
  const { headers, ...rest } = requestOf(op);
  const authorization = `${scheme} ${embedded[who].token}`;
  const address = addressOf(op, { deploymentId: at });
  return world.raw(op.method, address, { headers: { ...headers, authorization }, ...rest });
};

const cases = (list: readonly Operation[]) => list.map((op) => [op.id, op] as const);
const takesTokens = allOperations.filter(({ auth }) => auth === 'management' || auth === 'embed');
const takesKeysOnly = allOperations.filter(({ auth }) => auth === 'apiKey');

describe.each(WHO)(
  'with the embed token of %s, operations that are not on the allow-list are a 403',
  (who) => {
    test.each(cases(takesTokens))('%s', async (_id, op) => {
      const { status } = await send(who, op, deploymentId);
      if (isOpenTo(who, op)) expect([200, 204, 404, NEEDS_MORE[op.id]]).toContain(status);
      else expect(status).toBe(403);
    });
  },
);

describe('in another deployment, everything is a 403, even if the deployment does not exist', () => {
  const all = takesTokens.filter(isDeploymentOperation);
  // In a deployment that does not exist, the first operation of each kind gets all tokens, and the others one each, by
  // turns.
  const isFirstOfKind = (op: Operation) =>
    op === all.find(({ auth, embed }) => auth === op.auth && embed === op.embed);
  let turn = 0;
  test.each(cases(all))('%s', async (_id, op) => {
    for (const who of WHO) expect((await send(who, op, otherDeploymentId)).status).toBe(403);
    for (const who of isFirstOfKind(op) ? WHO : [WHO[turn++ % WHO.length]!])
      expect((await send(who, op, 999_999_999)).status).toBe(403);
  });
});

describe('operations that take only API keys are a 401', () => {
  test.each(cases(takesKeysOnly))('%s', async (_id, op) => {
    for (const who of WHO) {
      for (const scheme of ['Bearer', 'Api-Key']) {
        expect((await send(who, op, deploymentId, scheme)).status).toBe(401);
      }
    }
  });

  test('minting is one of these operations', () => {
    expect(takesKeysOnly.map(({ id }) => id)).toContain('generateSession');
  });
});

test('an embed token is not accepted as an API key', async () => {
  for (const who of WHO) {
    const { status } = await send(who, operations.getReports, deploymentId, 'Api-Key');
    expect(status).toBe(401);
  }
});

/** To open an operation to embedded viewers is a deliberate decision, and this list makes it visible. */
test('the allow-list', () => {
  const open = allOperations.filter(({ embed }) => embed !== undefined);
  const idsFor = (embed: string) => open.filter((op) => op.embed === embed).map(({ id }) => id);
  expect(idsFor('viewer').toSorted()).toEqual([
    'dryRunQuery',
    'dryRunQueryByAddress',
    'exportDashboard',
    'getAppConfig',
    'getDashboard',
    'getEmbedSession',
    'getNotification',
    'getNotifications',
    'getQueryMeta',
    'getRecipients',
    'load',
    'loadByAddress',
    'postDashboardPythonRun',
    'postQueryMeta',
    'querySql',
    'querySqlByAddress',
    'runSql',
    'subscribe',
    'subscribeByAddress',
    'subscribeToNotification',
    'unsubscribeFromNotification',
    'watchEmbedSession',
  ]);
  expect([...new Set(open.filter((op) => op.embed === 'creator').map(({ tag }) => tag))].toSorted()).toEqual([
    'Folders',
    'Notifications',
    'Queries',
    'Reports',
    'Resource Policies',
    'Workbooks',
    'Workspace',
  ]);
});
