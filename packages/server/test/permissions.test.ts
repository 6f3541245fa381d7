/** Every operation that needs an action is refused to a role that has all the others, and open to one that has only it. */
import { type Action, actions, allOperations, isDeploymentOperation, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestOf } from './samples.ts';
import { createOwnWorld, type Person, unique, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

/** No row has it, so that an operation that is let through finds nothing to change. */
const NO_SUCH_ID = Number.MAX_SAFE_INTEGER;

const needing = allOperations.filter((op) => op.permission !== 'none');
const cases = needing.map((op) => [op.id, op] as const);

/** The action, and every one that implies it: `All`, and the higher levels on content. */
function implying(action: Action): Action[] {
  const [, noun, level] = /^(Report|Workbook|Folder)(Read|Edit|Manage)$/.exec(action) ?? [];
  if (!noun) return ['All', action];
  const levels = ['Read', 'Edit', 'Manage'];
  return ['All', ...levels.slice(levels.indexOf(level!)).map((higher) => `${noun}${higher}` as Action)];
}

/** What the least body of an operation asks for beyond the operation itself. */
const ALSO_NEEDED: Record<string, Action[]> = {
  // It moves to the root, where only those may put something who may create there.
  bulkMoveWorkspaceObjects: ['AIBIExplore'],
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

/** A deployment of the admin with a folder, a workbook and a report, none of them inside another. */
async function adminsContent(): Promise<Record<string, number>> {
  const { id: deploymentId } = await world.deployment();
  const folder = await world.admin.createFolder({ deploymentId, body: { name: 'theirs' } });
  const workbook = await world.admin.createWorkbook({ deploymentId, body: {} });
  const report = await world.admin.createReport({ deploymentId, body: {} });
  return { deploymentId, folderId: folder.id, workbookId: workbook.id, reportId: report.id };
}

/** Of an error in any form; nothing of a success, which may be a stream without end. */
async function codeOf(response: Response): Promise<string | undefined> {
  if (response.status < 400) return void (await response.body?.cancel());
  const { code } = (await response.json()) as { code?: string };
  return response.headers.get('x-error-code') ?? code;
}

async function send(op: Operation, person: Person, ids: Record<string, number>) {
  const path = op.path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const isId = (op.params[name] as { type?: string }).type === 'integer';
    return String(isId ? (ids[name] ?? NO_SUCH_ID) : 'something000');
  });
  const response = await world.raw(op.method, path, { apiKey: person.apiKey, ...requestOf(op) });
  return { status: response.status, code: await codeOf(response) };
}

/** Who may not see a thing is told that it does not exist; who may see it and not change it is told that. */
const refusalOf = (op: Operation) => {
  const action = op.permission;
  if (isDeploymentOperation(op) && action === 'DeploymentRead')
    return { status: 404, code: 'deployment_not_found' };
  const [, noun] = /^(Report|Workbook|Folder)Read$/.exec(action) ?? [];
  return noun ? { status: 404, code: `${noun.toLowerCase()}_not_found` } : { status: 403, code: 'forbidden' };
};

describe('a role with every action but the needed one is refused', () => {
  let content: Record<string, number>;
  beforeAll(async () => {
    content = await adminsContent();
  });
  test.each(cases)('%s', async (_id, op) => {
    const lacking = implying(op.permission as Action);
    const person = await personWith(actions.filter((action) => !lacking.includes(action)));
    expect(await send(op, person, content)).toEqual(refusalOf(op));
  });
});

describe('a role with only the needed action passes', () => {
  test.each(cases)('%s', async (_id, op) => {
    const needed = op.permission as Action;
    const given = [needed, ...(ALSO_NEEDED[op.id] ?? [])];
    if (isDeploymentOperation(op)) given.push('DeploymentRead');
    const person = await personWith([...new Set(given)]);
    const { status, code } = await send(op, person, await adminsContent());
    if (op.permissionOn === 'resource')
      return expect([status, code]).toEqual([expect.toSatisfy((s) => s < 300), undefined]);
    expect([status, code]).not.toEqual([404, 'deployment_not_found']);
    expect([401, 403]).not.toContain(status);
  });
});

test('there are operations of every kind among them', () => {
  expect(needing.length).toBeGreaterThan(70);
  expect(needing.filter((op) => op.permissionOn === 'resource').length).toBeGreaterThan(10);
});
