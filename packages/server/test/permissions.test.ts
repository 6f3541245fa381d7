/** For each operation that needs an action: a role with all other actions is refused, and a role with only it passes. */
import {
  type Action,
  actions,
  allOperations,
  includedIn,
  isDeploymentOperation,
  type Operation,
} from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { browsingPerson } from './browsing.ts';
import { errorCodeOf } from './error-code.ts';
import { isIdIn, requestOf, textIn } from './samples.ts';
import { createOwnWorld, type Person, unique, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

/** No row has this id, so an allowed operation finds nothing to change. */
const NO_SUCH_ID = Number.MAX_SAFE_INTEGER;

const needing = allOperations.filter((op) => op.permission !== 'none');
/** Pages take the cookie of a person who signed in by browser, and no key. */
const isPage = ({ auth }: Operation) => auth === 'console';
const cases = needing.filter((op) => !isPage(op)).map((op) => [op.id, op] as const);

/** The action, and all actions that include it: `All`, and the higher levels on content. */
function implying(action: Action): Action[] {
  const including = includedIn[action];
  if (including) return ['All', action, including];
  const [, noun, level] = /^(Report|Workbook|Folder)(Read|Edit|Manage)$/.exec(action) ?? [];
  if (!noun) return ['All', action];
  const levels = ['Read', 'Edit', 'Manage'];
  return ['All', ...levels.slice(levels.indexOf(level!)).map((higher) => `${noun}${higher}` as Action)];
}

/** Additional actions that the smallest valid body of an operation needs. */
const ALSO_NEEDED: Record<string, Action[]> = {
  // The body moves the item to the root, which needs the right to create there.
  bulkMoveWorkspaceObjects: ['AIBIExplore'],
  // The reports in a workbook are deleted with it.
  deleteWorkbook: ['ReportManage'],
  // Without a branch, the files are those of the branch that is deployed.
  startUpload: ['SchemaUpdate'],
};

/**
 * The answers of operations to a caller who may call them, where the content of these tests is not enough for a
 * success.
 */
const ACCEPTED: Record<string, [number, string]> = {
  refreshReport: [409, 'report_without_query'],
  publishDashboard: [409, 'dashboard_without_draft'],
  unpublishDashboard: [409, 'not_published'],
  getDashboardVersion: [404, 'dashboard_version_not_found'],
  exportDashboard: [404, 'dashboard_not_found'],
  updatePublishedDashboardAiWidgetThread: [409, 'not_published'],
};

const people = new Map<string, Promise<Person>>();

/** One person for each set of actions. */
function personWith(given: Action[]): Promise<Person> {
  const key = given.join();
  const make = async () => {
    const role = await world.admin.createRole({ body: { name: unique('role'), actions: given } });
    return world.person({ roles: [role.name] });
  };
  const person = people.get(key) ?? make();
  people.set(key, person);
  return person;
}

/**
 * Creates content for the parameters of the operation, as the admin: a deployment, a folder, a workbook, a report; none
 * inside another.
 */
async function adminsContent({ params }: Pick<Operation, 'params'>): Promise<Record<string, number>> {
  if (!('deploymentId' in params)) return {};
  const { id: deploymentId } = await world.deployment();
  const make: Record<string, () => Promise<{ id: number }>> = {
    folderId: () => world.admin.createFolder({ deploymentId, body: { name: 'theirs' } }),
    workbookId: () => world.admin.createWorkbook({ deploymentId, body: {} }),
    reportId: () => world.admin.createReport({ deploymentId, body: {} }),
  };
  const ids: Record<string, number> = { deploymentId };
  for (const [name, create] of Object.entries(make)) if (name in params) ids[name] = (await create()).id;
  return ids;
}

async function send(op: Operation, person: Person, ids: Record<string, number>) {
  const path = op.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    String(isIdIn(op, name) ? (ids[name] ?? NO_SUCH_ID) : textIn(op, name)),
  );
  const response = await world.raw(op.method, path, { apiKey: person.apiKey, ...requestOf(op) });
  return { status: response.status, code: await errorCodeOf(response) };
}

/** A caller who may not see an item gets a 404; a caller who may see but not change it gets a 403. */
const refusalOf = (op: Operation) => {
  const action = op.permission;
  if (isDeploymentOperation(op) && action === 'DeploymentRead')
    return { status: 404, code: 'deployment_not_found' };
  const [, noun] = /^(Report|Workbook|Folder)Read$/.exec(action) ?? [];
  return noun ? { status: 404, code: `${noun.toLowerCase()}_not_found` } : { status: 403, code: 'forbidden' };
};

describe('a role with every action except the needed one is refused', () => {
  let content: Record<string, number>;
  beforeAll(async () => {
    content = await adminsContent({
      params: { deploymentId: 0, folderId: 0, workbookId: 0, reportId: 0 } as never,
    });
  });
  test.each(cases)('%s', async (_id, op) => {
    const lacking = implying(op.permission as Action);
    const person = await personWith(actions.filter((action) => !lacking.includes(action)));
    expect(await send(op, person, content)).toEqual(refusalOf(op));
  });
});

describe('a role with only the needed action is accepted', () => {
  test.each(cases)('%s', async (_id, op) => {
    const needed = op.permission as Action;
    const given = [needed, ...(ALSO_NEEDED[op.id] ?? [])];
    if (isDeploymentOperation(op)) given.push('DeploymentRead');
    const person = await personWith([...new Set(given)]);
    const { status, code } = await send(op, person, await adminsContent(op));
    if (op.permissionOn === 'resource')
      return expect([status, code]).toEqual(ACCEPTED[op.id] ?? [expect.toSatisfy((s) => s < 300), undefined]);
    expect([status, code]).not.toEqual([404, 'deployment_not_found']);
    expect([401, 403]).not.toContain(status);
  });
});

test.each(needing.filter(isPage).map((op) => [op.id, op] as const))(
  'the page of %s is refused without the needed action, and accepted with it',
  async (_id, op) => {
    const { person, ...browser } = await browsingPerson(world);
    const send = async () =>
      op.method === 'GET'
        ? browser.get(op.path)
        : browser.post(op.path, { csrf: await browser.csrf(), id: String(NO_SUCH_ID) });
    expect((await send()).status).toBe(403);
    const role = await world.admin.createRole({
      body: { name: unique('role'), actions: [op.permission as Action] },
    });
    await world.admin.updateUser({ id: person.id, body: { roles: [role.name] } });
    expect([401, 403]).not.toContain((await send()).status);
  },
);

test('there are operations of every kind among them', () => {
  expect(needing.length).toBeGreaterThan(70);
  expect(needing.filter((op) => op.permissionOn === 'resource').length).toBeGreaterThan(10);
});
