import { operations, scimUrns } from '@oriel/contract';
import { created } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import type { Etag } from '../../platform/http/etag.ts';
import { handle } from '../../platform/http/routes.ts';
import { createUserGroup, deleteUserGroup, lockUserGroup, updateUserGroup } from '../user-groups/index.ts';
import { type AttributeSelection, show, shownOf, shows } from './attribute-selection.ts';
import { idOf } from './filter.store.ts';
import * as store from './groups.store.ts';
import {
  applyExternalId,
  applyMembers,
  groupFieldsOf,
  groupResource,
  groupState,
  type MemberChange,
  memberChangeOf,
  patchableGroup,
  replaceMembers,
  requireFreeName,
  withMembers,
} from './groups.ts';
import { groupPage, type ListQuery, listReply } from './pages.store.ts';
import { type Doc, lowerKeys, patched, stepsOf } from './patch.ts';
import { requireSchema } from './schema.ts';

/** A group may have too many members for a reply. */
const WITHOUT_MEMBERS = shownOf({ excludedAttributes: 'members' });

/** Nobody else can change the group and its members until the transaction ends. */
async function lockGroup(tx: Tx, id: number | undefined, etag: Etag) {
  const group = await lockUserGroup(tx, found(id, 'group_not_found'));
  const row = (await store.findScimGroup(tx, group.id))!;
  etag.require(groupState(row));
  return { group, row };
}

type LockedGroup = Awaited<ReturnType<typeof lockGroup>>;

/** Writes only what differs. */
async function writeGroup(
  tx: Tx,
  { group, row }: LockedGroup,
  { name, externalId }: { name: string; externalId: string | null },
  members: MemberChange,
) {
  if (name !== group.name) await requireFreeName(tx, name, group.id);
  const renamed = name === group.name ? { group, changes: [] } : await updateUserGroup(tx, group, { name });
  const external = await applyExternalId(tx, group.id, row.externalId, externalId);
  return [...renamed.changes, ...external, ...(await applyMembers(tx, renamed.group, members))];
}

export function scimGroupRoutes(baseUrl: string) {
  /** As many of the groups as a reply may hold. */
  const resources = async (db: Queryable, rows: readonly store.ScimGroupRow[], shown: AttributeSelection) => {
    const groups = shows(shown, 'members')
      ? await withMembers(db, rows)
      : rows.map((row) => ({ row, members: undefined }));
    return groups.map(({ row, members }) => show(groupResource(row, members, baseUrl), shown));
  };

  const list = async (db: Queryable, query: ListQuery & Parameters<typeof shownOf>[0]) => {
    const page = groupPage(query, store.filterableGroups);
    const total = await store.countScimGroups(db, page.where);
    const rows = page.limit && page.offset < total ? await store.listScimGroups(db, page) : [];
    return listReply(await resources(db, rows, shownOf(query)), total, page.offset);
  };

  /** The group as it is now, with its tag. */
  const read = async (db: Queryable, id: number, etag: Etag, shown: AttributeSelection) => {
    const row = found(await store.findScimGroup(db, id), 'group_not_found');
    const [resource] = await resources(db, [row], shown);
    etag.send(groupState(row));
    return resource!;
  };

  return [
    handle(operations.listScimGroups, ({ db }, { query }) => list(db, query)),
    handle(operations.searchScimGroups, ({ db }, { body }) => {
      requireSchema(body, scimUrns.search);
      return list(db, body);
    }),

    handle(operations.createScimGroup, ({ change, etag, sendHeaders }, { query, body }) => {
      requireSchema(body, scimUrns.group);
      const doc = lowerKeys(body) as Doc;
      const fields = groupFieldsOf(doc);
      const members = replaceMembers(doc.members);
      return change(async (tx) => {
        await requireFreeName(tx, fields.name);
        const { group } = await createUserGroup(tx, fields);
        await applyExternalId(tx, group.id, null, fields.externalId);
        const changes = await applyMembers(tx, group, members);
        const reply = await read(tx, group.id, etag, shownOf(query));
        sendHeaders({ location: `${baseUrl}/Groups/${group.id}` });
        return { reply, changes: [created({ ...group, externalId: fields.externalId }), ...changes] };
      });
    }),

    handle(operations.getScimGroup, ({ db, etag }, { params, query }) =>
      read(db, found(idOf(params.id), 'group_not_found'), etag, shownOf(query)),
    ),

    handle(operations.replaceScimGroup, ({ change, etag }, { params, query, body }) => {
      requireSchema(body, scimUrns.group);
      const doc = lowerKeys(body) as Doc;
      const fields = groupFieldsOf(doc);
      const members = replaceMembers(doc.members);
      return change(async (tx) => {
        const locked = await lockGroup(tx, idOf(params.id), etag);
        const changes = await writeGroup(tx, locked, fields, members);
        return { reply: await read(tx, locked.group.id, etag, shownOf(query)), changes };
      });
    }),

    handle(operations.patchScimGroup, ({ change, etag }, { params, query, body }) => {
      requireSchema(body, scimUrns.patch);
      const steps = stepsOf(body.Operations, patchableGroup);
      const members = memberChangeOf(steps);
      return change(async (tx) => {
        const locked = await lockGroup(tx, idOf(params.id), etag);
        const { name, externalId } = locked.row;
        const doc = patched({ displayname: name, externalid: externalId }, steps, patchableGroup);
        const changes = await writeGroup(tx, locked, groupFieldsOf(doc), members);
        const isAsked = (query.attributes ?? query.excludedAttributes) !== undefined;
        const group = await read(tx, locked.group.id, etag, isAsked ? shownOf(query) : WITHOUT_MEMBERS);
        return { reply: isAsked ? group : undefined, changes };
      });
    }),

    handle(operations.deleteScimGroup, ({ change, etag }, { params }) =>
      change(async (tx) => {
        const { group } = await lockGroup(tx, idOf(params.id), etag);
        return { reply: undefined, changes: await deleteUserGroup(tx, group) };
      }),
    ),
  ];
}
