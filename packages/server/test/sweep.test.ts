/** Rules for every operation of the contract, including future ones. */
import { actions, allOperations, errorCatalogue, errorCodesOf, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectedOperations } from '../../contract/coverage.ts';
import { browsingPerson } from './browsing.ts';
import { addressOf, bodySchemaOf, requestOf, validBody } from './samples.ts';
import { createOwnWorld, type World } from './world.ts';

/** Operations that use a changing method but write no audit entry, each with its reason. */
const UNAUDITED: string[] = [
  // Queries change nothing.
  'load',
  'subscribe',
  'postQueryMeta',
  'querySql',
  'runSql',
  'dryRunQuery',
  'explainAccess',
  'explainViewer',
  'explainQuery',
  'previewReport',
  'postDashboardPythonRun',
  'previewOidcToken',
  'testGitHostInstallation',
  'testSignInProvider',
  // What comes of it is audited when the person comes back.
  'initiateOAuthFlow',
  // Only makes the server look at a repository. What it finds there is audited.
  'receiveGitHostWebhook',
  // The ledger records minting and exchanging. Minting writes audit entries for its definitions in its own transaction.
  'generateSession',
  // Changes nothing.
  'dryRunSession',
  'postTokenBySessionId',
  // The audit log holds sign-ins, failed or not, as events. Renewing a session changes nothing that others can see.
  'login',
  'refreshTokens',
  'signInByForm',
  // The job that answers it is an event too, if it makes a link.
  'forgotPasswordByForm',
  'createDeviceCode',
  'exchangeDeviceCode',
  // Nothing of an upload is visible before it is finished, and finishing is audited with all files.
  'uploadFile',
  // Only asks whether the source can be reached.
  'testDataSource',
  // Stores nothing.
  'previewDashboardReports',
  'updateDashboardPresence',
  // The preview in which the queries run is audited.
  'loadDashboardPreview',
  // Searches change nothing, and bulk requests and searches over everything are always refused.
  'searchScimUsers',
  'searchScimGroups',
  'postScimBulk',
  'postScimSearch',
];

/** Signs an admin in by browser: pages that need an action refuse other people before they check the form. */
async function adminsBrowser() {
  const { person, headers } = await browsingPerson(world);
  await world.admin.updateUser({ id: person.id, body: { roles: ['Admin'] } });
  return headers();
}

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const protectedOperations = allOperations.filter((op) => op.auth !== 'public');
const cases = (list: readonly Operation[]) => list.map((op) => [op.id, op] as const);

/** Returns one of the items by round-robin over the operations. */
const inTurn = <Item>(id: string, items: Item[]) =>
  items[allOperations.findIndex((op) => op.id === id) % items.length]!;

/** Whether the operation is the first of its kind, which reads credentials and reports errors in the same way. */
const isFirstOfKind = (op: Operation) =>
  op === protectedOperations.find(({ auth, errorShape }) => auth === op.auth && errorShape === op.errorShape);

const send = (op: Operation, apiKey: string | null, body?: object) =>
  world.raw(op.method, addressOf(op), { apiKey, ...requestOf(op, body ?? {}) });

test('an operation that the specification names has the area, method and path that it gives', () => {
  const expected = new Map(expectedOperations.map((op) => [op.id, op]));
  expect(expected.size).toBe(expectedOperations.length);
  const named = allOperations.filter(({ id }) => expected.has(id));
  expect(named.length).toBeGreaterThan(80);
  for (const { id, tag, method, path } of named) expect({ id, tag, method, path }).toEqual(expected.get(id));
});

describe('the contract is consistent', () => {
  test.each(cases(allOperations))('%s', (_id, op) => {
    const named = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(op.params).sort()).toEqual(named.sort());
    for (const code of errorCodesOf(op)) expect(errorCatalogue).toHaveProperty(code);
    if (op.permission !== 'none') expect(actions).toContain(op.permission);
    if (op.method === 'GET') expect(op.audit).toBe('none');
    else if (!UNAUDITED.includes(op.id)) expect(op.audit).not.toBe('none');
    if (op.auth === 'public') expect(op.permission).toBe('none');
    expect(op.summary).not.toBe('');
  });
});

describe('without a credential, or with a bad one, every protected operation is a 401', () => {
  const BAD = ['sk-this-key-was-never-created', 'not-even-a-key', ''];
  // The first operation of each kind gets all bad credentials, and the others one each, by turns.
  test.each(cases(protectedOperations))('%s', async (id, op) => {
    const bad = isFirstOfKind(op) ? BAD : [inTurn(id, BAD)];
    for (const apiKey of [null, ...bad]) expect((await send(op, apiKey)).status).toBe(401);
  });
});

describe('content of others is a 403 or 404 for a caller without rights, and is not changed', () => {
  const onContent = protectedOperations.filter(({ params }) =>
    ['folderId', 'workbookId', 'reportId'].some((name) => name in params),
  );
  test.each(cases(onContent))('%s', async (_id, op) => {
    const { id: deploymentId } = await world.deployment();
    const folder = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
    const workbook = await world.admin.createWorkbook({ deploymentId, body: { folderId: folder.id } });
    const report = await world.admin.createReport({ deploymentId, body: { workbookId: workbook.id } });
    const ids: Record<string, number> = {
      deploymentId,
      folderId: folder.id,
      workbookId: workbook.id,
      reportId: report.id,
      versionNumber: 1,
    };
    const stranger = await world.person({ roles: ['Explorer'] });
    const path = op.path.replaceAll(/\{(\w+)\}/g, (_, name) => String(ids[name]));
    const response = await world.raw(op.method, path, { apiKey: stranger.apiKey, ...requestOf(op) });
    expect([403, 404]).toContain(response.status);
    expect(await world.admin.getReport({ deploymentId, reportId: report.id })).toEqual(report);
  });
});

describe('unknown body fields are refused by name', () => {
  const isOpen = (op: Operation) =>
    (bodySchemaOf(op) as { additionalProperties?: unknown } | undefined)?.additionalProperties === true;

  test('except in SCIM, whose clients send attributes that we do not keep', () => {
    const open = protectedOperations.filter(isOpen);
    expect(open.filter(({ path }) => !path.startsWith('/api/scim/')).map(({ id }) => id)).toEqual([]);
    expect(open.length).toBeGreaterThan(0);
  });

  test.each(cases(protectedOperations.filter((op) => bodySchemaOf(op) && !isOpen(op))))(
    '%s',
    async (_id, op) => {
      const response = await send(op, null, {});
      expect(response.status).toBe(401);
      const { headers, body } = requestOf(op, { ...validBody(op), ephemeralTtlSeconds: 60 });
      const browser = op.auth === 'console' ? await adminsBrowser() : undefined;
      const refused = await world.raw(op.method, addressOf(op), {
        headers: { ...headers, ...browser },
        body,
        ...(browser ? { apiKey: null } : {}),
      });
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('ephemeralTtlSeconds: is not a known field');
    },
  );
});

describe('an id that no row can have is a 404, and a value that is not an id is a 400', () => {
  const isId = (schema: unknown) => (schema as { type?: string }).type === 'integer';
  const withIds = allOperations.filter(
    ({ params }) => Object.keys(params).length > 0 && Object.values(params).every(isId),
  );
  const BAD = ['1.5', '-1', '1e3', '%00'];
  test.each(cases(withIds))('%s', async (id, op) => {
    const [, query = ''] = addressOf(op).split('?');
    const at = (value: string) => `${op.path.replaceAll(/\{\w+\}/g, value)}?${query}`;
    const init = requestOf(op);
    expect((await world.raw(op.method, at('9007199254740991'), init)).status).toBe(404);
    for (const bad of ['abc', '0', '9007199254740993', inTurn(id, BAD)]) {
      expect((await world.raw(op.method, at(bad), init)).status).toBe(400);
    }
  });
});
