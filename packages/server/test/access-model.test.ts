/**
 * Compares what people see with a model of the rules. Random content is created, moved, shared and deleted through the
 * API, and every list must show each of several people exactly what the model says.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryRandomly } from './random-runs.ts';
import { createOwnWorld, type Person, unique, type World } from './world.ts';

const NONE = 0;
const READ = 1;
const EDIT = 2;
const MANAGE = 3;
type Level = 0 | 1 | 2 | 3;
type Noun = 'Folder' | 'Workbook' | 'Report';
type Principal = `${'user' | 'group' | 'role'} ${number}`;

interface OwnedThing {
  noun: Noun;
  id: number;
  name: string;
  ownerId: number;
  /** The folder that contains it, or the workbook that contains a report. */
  place: OwnedThing | null;
  policies: Map<Principal, Level>;
}

interface Somebody {
  name: string;
  person: Person;
  /** The users, groups and roles whose policies apply to this person. The groups change during the test. */
  principals: Set<Principal>;
}

let world: World;
let explorer: Somebody;
let people: Somebody[];
let roleId: number;
let groupIds: number[];

beforeAll(async () => {
  world = await createOwnWorld();
  const role = await world.admin.createRole({ body: { name: unique('role'), actions: ['DeploymentRead'] } });
  roleId = role.id;
  const somebody = async (name: string, roles: string[]): Promise<Somebody> => {
    const person = await world.person({ roles });
    return { name, person, principals: new Set<Principal>([`user ${person.userId}`]) };
  };
  explorer = await somebody('explorer', ['Explorer']);
  people = [
    explorer,
    await somebody('viewer with policies', ['Viewer']),
    await somebody('viewer in groups', ['Viewer']),
    await somebody('viewer by role', ['Viewer', role.name]),
  ];
  people[3]!.principals.add(`role ${roleId}`);
});
afterAll(() => world.stop());

/** The level that a person has by owning the item or something above it, or by a policy on one of them. */
function levelOn(thing: OwnedThing, { person, principals }: Somebody): Level {
  let level: Level = NONE;
  for (let at: OwnedThing | null = thing; at; at = at.place) {
    if (at.ownerId === person.userId) level = MANAGE;
    for (const [principal, given] of at.policies) {
      if (principals.has(principal) && given > level) level = given;
    }
  }
  return level;
}

const isWithin = (thing: OwnedThing, container: OwnedThing): boolean => {
  for (let at: OwnedThing | null = thing; at; at = at.place) if (at === container) return true;
  return false;
};

/** Small, so that most lists have several pages. */
const PAGE = 5;
const SORTS = ['name', 'createdAt', 'updatedAt'] as const;

/** Picks an item by a random number that may be larger than the number of items. */
const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];

const index = fc.nat({ max: 1000 });
/** Mostly a folder or workbook, sometimes the root. */
const place = fc.option(index, { freq: 4 });
const noun = fc.constantFrom<Noun[]>('Folder', 'Workbook', 'Report', 'Report');
const create = fc.record({ do: fc.constant('create'), noun, place, own: fc.boolean() });
const move = fc.record({
  do: fc.constant('move'),
  noun: fc.constantFrom<Noun[]>('Folder', 'Folder', 'Workbook', 'Report'),
  index,
  place,
});
const share = fc.record({
  do: fc.constant('share'),
  noun: fc.constantFrom<Noun[]>('Folder', 'Workbook', 'Report'),
  index,
  whom: index,
  level: fc.constantFrom<Level[]>(READ, EDIT, MANAGE),
});
const unshare = fc.record({ do: fc.constant('unshare'), index });
const join = fc.record({ do: fc.constant('join'), index, group: index });
const remove = fc.record({ do: fc.constant('delete'), noun, index });
const compare = fc.record({ do: fc.constant('compare'), turn: index });

const commands = fc.oneof(
  { weight: 6, arbitrary: create },
  { weight: 5, arbitrary: move },
  { weight: 7, arbitrary: share },
  { weight: 2, arbitrary: unshare },
  { weight: 2, arbitrary: join },
  { weight: 1, arbitrary: remove },
  { weight: 1, arbitrary: compare },
);
type Command = typeof commands extends fc.Arbitrary<infer T> ? T : never;

const made = (kind: Noun, at: number | null, own = false) =>
  ({ do: 'create', noun: kind, place: at, own }) as const;
/** Every run starts with three nested folders, a workbook in the second one, and reports in different places. */
const START: Command[] = [
  made('Folder', null),
  made('Folder', 0),
  made('Folder', 1),
  made('Workbook', 1),
  { do: 'share', noun: 'Folder', index: 1, whom: 1, level: EDIT },
  { do: 'share', noun: 'Folder', index: 0, whom: 2, level: READ },
  made('Report', null, true),
  made('Report', null),
  made('Report', 0),
  made('Report', 1, true),
  made('Report', 2),
  made('Report', 2, true),
  made('Report', 3),
  made('Report', 3, true),
];

/** A deployment, and its content in the model. */
class Run {
  things: OwnedThing[] = [];
  private made = 0;
  private readonly deploymentId: number;

  constructor(deploymentId: number) {
    this.deploymentId = deploymentId;
  }

  of = (kind: Noun) => this.things.filter((thing) => thing.noun === kind);
  seenBy = (who: Somebody, kind: Noun) => this.of(kind).filter((thing) => levelOn(thing, who) >= READ);

  async execute(command: Command) {
    if (command.do === 'create') await this.create(command.noun, command.place, command.own);
    else if (command.do === 'move') await this.move(command.noun, command.index, command.place);
    else if (command.do === 'share')
      await this.share(command.noun, command.index, command.whom, command.level);
    else if (command.do === 'unshare') await this.unshare(command.index);
    else if (command.do === 'join') await joinOrLeave(command.index, command.group);
    else if (command.do === 'delete') await this.remove(command.noun, command.index);
    else await this.compare(command.turn, false);
  }

  /** The places that can contain an item of this kind. Reports can be in workbooks too. */
  private container(kind: Noun, at: number | null): OwnedThing | null {
    if (at === null) return null;
    const containers = kind === 'Report' ? [...this.of('Folder'), ...this.of('Workbook')] : this.of('Folder');
    return pick(containers, at) ?? null;
  }

  private async create(kind: Noun, at: number | null, own: boolean) {
    const { deploymentId } = this;
    const container = this.container(kind, at);
    const client = own ? explorer.person.client : world.admin;
    // Few names, so that many are equal and pages end between equals.
    const name = `${kind} ${'abc'[this.made++ % 3]}`;
    const where =
      kind === 'Folder'
        ? { parentId: container?.id }
        : container?.noun === 'Workbook'
          ? { workbookId: container.id }
          : { folderId: container?.id };
    const args = { deploymentId, body: { name, ...where } };
    const call = {
      Folder: () => client.createFolder(args),
      Workbook: () => client.createWorkbook(args),
      Report: () => client.createReport(args),
    }[kind]();
    const level = own && container ? levelOn(container, explorer) : MANAGE;
    if (level < EDIT) {
      await expect(call).rejects.toMatchObject({ status: level < READ ? 404 : 403 });
      return;
    }
    const { id, ...created } = (await call) as { id: number; userId?: number; createdBy?: number };
    this.things.push({
      noun: kind,
      id,
      name,
      ownerId: created.createdBy!,
      place: container,
      policies: new Map(),
    });
  }

  private async move(kind: Noun, at: number, to: number | null) {
    const thing = pick(this.of(kind), at);
    if (!thing) return;
    const { deploymentId } = this;
    const target = this.container(kind, to);
    if (target?.noun === 'Workbook') {
      const body = { workbookId: target.id };
      await world.admin.updateReport({ deploymentId, reportId: thing.id, body });
      thing.place = target;
      return;
    }
    const type = kind.toUpperCase() as 'REPORT';
    const call = world.admin.moveWorkspaceObject({
      deploymentId,
      body: { type, id: thing.id, folderId: target?.id },
    });
    if (target && isWithin(target, thing)) {
      await expect(call).rejects.toMatchObject({ code: 'folder_cycle' });
      return;
    }
    await call;
    thing.place = target;
  }

  private async share(kind: Noun, at: number, whom: number, level: Level) {
    const thing = pick(this.of(kind), at);
    if (!thing) return;
    const principals: Principal[] = [
      `user ${people[1]!.person.userId}`,
      `user ${explorer.person.userId}`,
      ...groupIds.map((id): Principal => `group ${id}`),
      `role ${roleId}`,
    ];
    const principal = pick(principals, whom)!;
    await setPolicy(thing, principal, level);
    thing.policies.set(principal, level);
  }

  private async unshare(at: number) {
    const all = this.things.flatMap((thing) =>
      [...thing.policies.keys()].map((principal) => ({ thing, principal })),
    );
    const policy = pick(all, at);
    if (!policy) return;
    await setPolicy(policy.thing, policy.principal, NONE);
    policy.thing.policies.delete(policy.principal);
  }

  private async remove(kind: Noun, at: number) {
    const thing = pick(this.of(kind), at);
    if (!thing) return;
    if (kind === 'Folder' && at % 2) return this.removeTree(thing);
    const { deploymentId } = this;
    const type = kind.toUpperCase() as 'REPORT';
    const body = { items: [{ type, id: thing.id }] };
    const { failed } = await world.admin.bulkDeleteWorkspaceObjects({ deploymentId, body });
    const inside = this.things.filter(({ place }) => place === thing);
    if (inside.some(({ noun }) => noun === 'Folder')) {
      expect(failed).toMatchObject([{ id: thing.id, error: { status: 409 } }]);
      return;
    }
    expect(failed).toEqual([]);
    // Content of a folder returns to the root. Content of a workbook is deleted with it.
    if (kind === 'Folder') for (const other of inside) other.place = null;
    this.things = this.things.filter((other) => !isWithin(other, thing));
  }

  /** Deletes a folder. The explorer may do so if they manage everything below it. */
  private async removeTree(folder: OwnedThing) {
    const { deploymentId } = this;
    const args = { deploymentId, folderId: folder.id, recursive: true };
    const call = explorer.person.client.deleteFolder(args);
    const below = this.things.filter((other) => isWithin(other, folder));
    if (below.every((thing) => levelOn(thing, explorer) === MANAGE)) {
      await call;
      this.things = this.things.filter((other) => !below.includes(other));
    } else {
      const status = levelOn(folder, explorer) < READ ? 404 : 403;
      await expect(call).rejects.toMatchObject({ status });
    }
  }

  /**
   * Each person reads the reports in another sort order, chosen by `turn`, so that each sequence uses all orders and
   * many sequences give each person each order. `thoroughly` means also backwards and with filters.
   */
  async compare(turn: number, thoroughly: boolean) {
    const compareFor = async (who: Somebody, i: number) => {
      await this.compareReports(who, pick(SORTS, turn + i)!, thoroughly);
      await this.compareContainers(who);
      if (thoroughly) await this.compareFilters(who, turn + i);
    };
    await Promise.all(people.map(compareFor));
  }

  private async compareReports(who: Somebody, sortBy: (typeof SORTS)[number], thoroughly: boolean) {
    const expected = this.seenBy(who, 'Report');
    const rights = new Map(expected.map((report) => [report.id, levelOn(report, who)]));
    const orders: number[][] = [];
    for (const sortDirection of thoroughly ? (['ASC', 'DESC'] as const) : (['ASC'] as const)) {
      const query = { deploymentId: this.deploymentId, sortBy, sortDirection, first: PAGE };
      const items = await this.pages(who, query, expected.length);
      expect(ids(items), `${who.name} by ${sortBy}`).toEqual(ids(expected));
      for (const { id, canEdit, canManage } of items) {
        expect({ canEdit, canManage }, `${who.name} on report ${id}`).toEqual({
          canEdit: rights.get(id)! >= EDIT,
          canManage: rights.get(id)! >= MANAGE,
        });
      }
      orders.push(items.map(({ id }) => id));
    }
    const [forwards, backwards] = orders;
    if (backwards) expect(backwards, `${who.name} by ${sortBy}, backwards`).toEqual(forwards!.toReversed());
    if (sortBy === 'name') expect(forwards).toEqual(inNameOrder(expected));
    // Ids are given in the order of creation.
    if (sortBy === 'createdAt') expect(forwards).toEqual(expected.map(({ id }) => id).toSorted(byNumber));
  }

  /** Reads all pages. The count on each page must be the total. */
  private async pages(who: Somebody, query: object, count: number) {
    const { deploymentId } = this;
    const items = [];
    for (let after: string | undefined; ; ) {
      const page = await who.person.client.getReports({ deploymentId, ...query, after });
      expect(page.count, `count for ${who.name}`).toBe(count);
      items.push(...page.items);
      if (!page.pageInfo!.hasNextPage) return items;
      expect(page.items).toHaveLength(PAGE);
      after = page.pageInfo!.endCursor!;
    }
  }

  private async compareContainers(who: Somebody) {
    const { client } = who.person;
    const { deploymentId } = this;
    const folders = await client.getFolders({ deploymentId, recursive: true });
    const expected = ids(this.seenBy(who, 'Folder'));
    expect([ids(folders.items), folders.count], `folders of ${who.name}`).toEqual([
      expected,
      expected.length,
    ]);
    const workbooks = await client.getWorkbooks({ deploymentId });
    const books = ids(this.seenBy(who, 'Workbook'));
    expect([ids(workbooks.items), workbooks.count], `workbooks of ${who.name}`).toEqual([
      books,
      books.length,
    ]);
  }

  private async compareFilters(who: Somebody, turn: number) {
    const { deploymentId } = this;
    const seen = this.seenBy(who, 'Report');
    const filtered = async (filter: object, expected: OwnedThing[]) => {
      const query = { sortBy: 'name', first: PAGE, ...filter };
      const items = await this.pages(who, query, expected.length);
      expect(
        items.map(({ id }) => id),
        `${who.name} with ${JSON.stringify(filter)}`,
      ).toEqual(inNameOrder(expected));
    };
    const containers = [pick(this.of('Folder').slice(-2), turn), pick(this.of('Workbook').slice(-2), turn)];
    for (const container of containers) {
      if (!container) continue;
      const filter = container.noun === 'Folder' ? { folderId: container.id } : { workbookId: container.id };
      await filtered(
        filter,
        seen.filter((report) => report.place === container),
      );
    }
    const search = pick(['REPORT B', ' c'], turn)!;
    const found = seen.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
    await filtered({ search }, found);
    const shown = await who.person.client.workspaceObjects({ deploymentId, first: 1000 });
    const atRoot = this.things.filter((thing) => thing.place === null && levelOn(thing, who) >= READ);
    expect(
      (shown.items as { type: string; id: number }[]).map(({ type, id }) => `${type} ${id}`).toSorted(),
      `workspace of ${who.name}`,
    ).toEqual(atRoot.map((thing) => `${thing.noun.toUpperCase()} ${thing.id}`).toSorted());
  }
}

const byNumber = (a: number, b: number) => a - b;
const ids = (list: { id: number }[]) => list.map(({ id }) => id).toSorted(byNumber);
const inNameOrder = (list: OwnedThing[]) =>
  list.toSorted((a, b) => (a.name === b.name ? a.id - b.id : a.name < b.name ? -1 : 1)).map(({ id }) => id);

async function setPolicy(
  { noun: resourceType, id: resourceId }: OwnedThing,
  principal: Principal,
  level: Level,
) {
  const [kind, text] = principal.split(' ');
  const names = [null, 'Read', 'Edit', 'Manage'] as const;
  const action = level === NONE ? null : (`${resourceType}${names[level]}` as 'ReportRead');
  const policy = { resourceType, resourceId, action };
  const id = Number(text);
  if (kind === 'user') await world.admin.setUserPolicy({ body: { ...policy, userId: id } });
  else if (kind === 'group') await world.admin.setGroupPolicy({ body: { ...policy, groupId: id } });
  else await world.admin.setRolePolicy({ body: { ...policy, roleId: id } });
}

async function joinOrLeave(at: number, group: number) {
  const { person, principals } = pick(people, at)!;
  const id = pick(groupIds, group)!;
  const body = { userIds: [person.userId] };
  if (principals.delete(`group ${id}`)) {
    await world.admin.removeUserGroupMembers({ id, body });
    return;
  }
  await world.admin.addUserGroupMembers({ id, body });
  principals.add(`group ${id}`);
}

/** Makes two new groups. The third person starts as a member of the first group. */
async function freshGroups() {
  for (const { principals } of people) for (const id of groupIds ?? []) principals.delete(`group ${id}`);
  groupIds = [];
  for (const prefix of ['first', 'second']) {
    groupIds.push((await world.admin.createUserGroup({ body: { name: unique(prefix) } })).id);
  }
  const member = people[2]!;
  await world.admin.addUserGroupMembers({ id: groupIds[0]!, body: { userIds: [member.person.userId] } });
  member.principals.add(`group ${groupIds[0]!}`);
}

test('after any sequence of changes, everybody sees exactly what the rules allow', async () => {
  // 25 commands on average; after a failure, the shortest sequence that fails.
  const sequences = fc.array(commands, { minLength: 1, maxLength: 50, size: 'max' });
  const property = fc.asyncProperty(sequences, async (sequence) => {
    const run = new Run((await world.deployment()).id);
    await freshGroups();
    for (const command of [...START, ...sequence]) await run.execute(command);
    await run.compare(sequence.length, true);
  });
  await tryRandomly(property, 20);
});
