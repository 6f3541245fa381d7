/** Groups as SCIM sees them: the resource, its attributes from a request, and the steps that write them. */
import { operations, scimLimits, scimUrns } from '@oriel/contract';
import { Type } from 'typebox';
import { type Change, changed } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { tagOf } from '../../platform/http/etag.ts';
import { checkerOf } from '../../platform/http/validation.ts';
import { addMembers, noteGroupChange, removeMembers, type UserGroupRow } from '../user-groups/index.ts';
import { idOf } from './filter.store.ts';
import type { Filter } from './filter.ts';
import * as store from './groups.store.ts';
import { type Doc, isObject, type PatchSchema, type Step } from './patch.ts';
import { attributeIfSet, withVersion } from './users.ts';

/** Members are not here, because a group may have very many: they are changed by `MemberChange`. */
export const patchableGroup: PatchSchema = {
  urn: scimUrns.group,
  plain: ['displayname', 'externalid'],
  complex: {},
  lists: {},
};

const checkFields = checkerOf(
  Type.Object({
    displayName: operations.createUserGroup.body.properties.name,
    externalId: operations.createUser.body.properties.externalId,
  }),
);

export function groupFieldsOf(doc: Doc): { name: string; externalId: string | null } {
  const externalId = doc.externalid === '' ? null : (doc.externalid ?? null);
  const fields = checkFields({ displayName: doc.displayname ?? '', externalId });
  return { name: fields.displayName, externalId: fields.externalId ?? null };
}

/** What all operations of a request together do to the members. */
export interface MemberChange {
  /** The members before the request do not stay. */
  isReplaced: boolean;
  added: Set<number>;
  removed: Set<number>;
}

export const noChange = (): MemberChange => ({ isReplaced: false, added: new Set(), removed: new Set() });

/** Names are in lower case, here and below. */
export function replaceMembers(members: unknown): MemberChange {
  return { isReplaced: true, added: new Set(memberIds(members ?? [], 'members')), removed: new Set() };
}

export function memberChangeOf(steps: readonly Step[]): MemberChange {
  const change = steps
    .filter(({ name }) => name === 'members')
    .reduce((before, step) => changeMembers(before, step), noChange());
  if (change.added.size + change.removed.size > scimLimits.members) throw tooManyMembers('Operations');
  return change;
}

function changeMembers(change: MemberChange, step: Step): MemberChange {
  const { op, filter, sub, value, at } = step;
  if (sub !== null)
    throw new ApiError('scim_read_only', { message: `${at}.path: members have fixed parts.` });
  if (filter !== null && op !== 'remove') {
    throw new ApiError('scim_invalid_path', { message: `${at}.path: only remove selects members.` });
  }
  if (op === 'remove') {
    if (filter === null && value == null) return replaceMembers([]);
    const ids = filter === null ? memberIds(value, `${at}.value`, 'ignore') : selectedIds(filter, at);
    for (const id of ids) {
      change.added.delete(id);
      change.removed.add(id);
    }
    return change;
  }
  if (op === 'replace') return replaceMembers(value);
  for (const id of memberIds(value, `${at}.value`)) {
    change.added.add(id);
    change.removed.delete(id);
  }
  return change;
}

/** `value eq "12"`, or several of them. */
function selectedIds(filter: Filter, at: string): number[] {
  if (filter.op === 'or') return filter.filters.flatMap((each) => selectedIds(each, at));
  if (filter.op !== 'eq' || filter.path.name !== 'value') {
    throw new ApiError('scim_invalid_path', {
      message: `${at}.path: members are selected by \`value eq "…"\`.`,
    });
  }
  return [idOf(String(filter.value))].filter((id) => id !== undefined);
}

const tooManyMembers = (at: string) => invalid(at, `must name at most ${scimLimits.members} members`);

/** Takes a list of members, one member, or their ids alone. */
function memberIds(value: unknown, at: string, unknown: 'refuse' | 'ignore' = 'refuse'): number[] {
  const members = value === null ? [] : [value].flat();
  if (members.length > scimLimits.members) throw tooManyMembers(at);
  return members.flatMap((member) => {
    const text = isObject(member) ? member.value : member;
    if (typeof text !== 'string') throw invalid(at, 'must be a list of members, each with a `value`');
    if (isObject(member) && !isUser(member, at)) {
      if (unknown === 'ignore') return [];
      throw invalid(at, 'must name users: a group cannot be a member');
    }
    const id = idOf(text);
    if (id === undefined && unknown === 'refuse') throw noSuchUser(text);
    return id ?? [];
  });
}

/**
 * A group may have the same id as a user, so the id alone does not tell. Clients leave both attributes out, or null. An
 * address of another form is refused: if it were ignored, a client would believe that the member was removed.
 */
function isUser({ type, $ref, value }: Doc, at: string): boolean {
  if (String(type ?? 'user').toLowerCase() !== 'user') return false;
  if (!$ref) return true;
  const [, kind, id] = /^(?:[^?#]*\/)?(users|groups)\/([^/?#]+)$/i.exec(String($ref)) ?? [];
  if (kind?.toLowerCase() === 'groups') return false;
  if (id !== value)
    throw invalid(at, 'must have as `$ref` the address of the user `…/Users/{value}`, or none');
  return true;
}

const noSuchUser = (id: string | number) =>
  invalid('members', `There is no user ${JSON.stringify(String(id).slice(0, 100))}.`, 'invalid_reference');

/** The caller has locked the group. */
export async function applyMembers(tx: Tx, group: UserGroupRow, change: MemberChange): Promise<Change[]> {
  let added = [...change.added];
  let removed = [...change.removed];
  if (change.isReplaced) {
    const current = new Set(await store.listMemberIds(tx, group.id));
    added = added.filter((id) => !current.has(id));
    removed = [...current].filter((id) => !change.added.has(id));
  }
  const changes: Change[] = [];
  let now = group;
  if (removed.length) {
    const step = await removeMembers(tx, now, removed);
    changes.push(...step.changes);
    now = step.group;
  }
  if (added.length) {
    await requirePeople(tx, added);
    changes.push(...(await addMembers(tx, now, added)).changes);
  }
  return changes;
}

async function requirePeople(tx: Tx, ids: readonly number[]): Promise<void> {
  const people = new Set(await store.listPeopleIds(tx, ids));
  const missing = ids.find((id) => !people.has(id));
  if (missing !== undefined) throw noSuchUser(missing);
}

/** Writes the id and its entry for the audit log, if it differs. */
export async function applyExternalId(
  tx: Tx,
  groupId: number,
  before: string | null,
  externalId: string | null,
): Promise<Change[]> {
  if (before === externalId) return [];
  await store.saveExternalId(tx, groupId, externalId);
  await noteGroupChange(tx, groupId);
  return [changed({ externalId: before }, { id: groupId, externalId })];
}

/** SCIM compares names without case, and the rest of the platform with it. Nobody else takes a name until the commit. */
export async function requireFreeName(tx: Tx, name: string, groupId?: number): Promise<void> {
  await store.lockNames(tx);
  if (await store.hasOtherWithName(tx, name, groupId ?? null)) throw new ApiError('group_name_taken');
}

/** What identifies the state of a group, without reading all its members. */
export const groupState = ({ id, name, externalId, memberCount, membersDigest }: store.ScimGroupRow) => ({
  id,
  name,
  externalId,
  memberCount,
  membersDigest,
});

export function groupResource(
  row: store.ScimGroupRow,
  members: readonly store.ScimMemberRow[] | undefined,
  baseUrl: string,
) {
  const resource = {
    schemas: [scimUrns.group as string],
    id: String(row.id),
    ...attributeIfSet('externalId', row.externalId),
    displayName: row.name,
    ...(members ? { members: members.map((member) => memberOf(member, baseUrl)) } : {}),
    meta: {
      resourceType: 'Group',
      created: row.createdAt,
      lastModified: row.updatedAt,
      location: `${baseUrl}/Groups/${row.id}`,
    },
  };
  return withVersion(resource, tagOf(groupState(row)));
}

const memberOf = ({ id, username }: store.ScimMemberRow, baseUrl: string) => ({
  value: String(id),
  $ref: `${baseUrl}/Users/${id}`,
  display: username,
  type: 'User',
});

/**
 * The groups with their members, as many of them as a reply may hold. A single group with more members is refused,
 * because a client would take a part of its members for all of them.
 */
export async function withMembers(db: Queryable, rows: readonly store.ScimGroupRow[]) {
  let count = 0;
  const end = rows.findIndex(({ memberCount }) => {
    count += memberCount;
    return count > scimLimits.listedMembers;
  });
  if (end === 0) throw new ApiError('scim_too_many');
  const shown = end === -1 ? rows : rows.slice(0, end);
  const ids = shown.filter(({ memberCount }) => memberCount > 0).map(({ id }) => id);
  const members = ids.length ? await store.listScimMembers(db, ids) : [];
  const byGroup = new Map<number, store.ScimMemberRow[]>(ids.map((id) => [id, []]));
  for (const member of members) byGroup.get(member.groupId)?.push(member);
  return shown.map((row) => ({ row, members: byGroup.get(row.id) ?? [] }));
}
