import { operations, scimUrns } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError, found, isApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { lockPerson, type UserRemoval } from '../users/index.ts';
import { show, shownOf } from './attribute-selection.ts';
import { idOf } from './filter.store.ts';
import { type ListQuery, listReply, userPage } from './pages.store.ts';
import { type Doc, lowerKeys, patched, stepsOf } from './patch.ts';
import { requireSchema } from './schema.ts';
import * as store from './users.store.ts';
import {
  createScimUser,
  docOf,
  fieldsOf,
  lockScimUser,
  patchableUser,
  patchedFieldsOf,
  updateScimUser,
  userResource,
} from './users.ts';

/** SCIM has no field for another owner. */
const ownContent = () =>
  new ApiError('user_owns_content', {
    message: 'You own content, which would go to yourself: delete your user with the key of another admin.',
  });

export function scimUserRoutes(baseUrl: string, removal: UserRemoval) {
  const stateOf = (row: store.ScimUserRow) => userResource(row, baseUrl).state;

  const list = async (db: Queryable, query: ListQuery & Parameters<typeof shownOf>[0]) => {
    const page = userPage(query, store.filterableUsers);
    const shown = shownOf(query);
    const total = await store.countScimUsers(db, page.where);
    const rows = page.limit && page.offset < total ? await store.listScimUsers(db, page) : [];
    const resources = rows.map((row) => show(userResource(row, baseUrl).resource, shown));
    return listReply(resources, total, page.offset);
  };

  return [
    handle(operations.listScimUsers, ({ db }, { query }) => list(db, query)),
    handle(operations.searchScimUsers, ({ db }, { body }) => {
      requireSchema(body, scimUrns.search);
      return list(db, body);
    }),

    handle(operations.createScimUser, ({ change, etag, sendHeaders }, { query, body }) => {
      requireSchema(body, scimUrns.user);
      const fields = fieldsOf(lowerKeys(body) as Doc);
      return change(async (tx) => {
        const { row, changes } = await createScimUser(tx, fields);
        const { state, resource } = userResource(row, baseUrl);
        etag.send(state);
        sendHeaders({ location: resource.meta.location });
        return { reply: show(resource, shownOf(query)), changes };
      });
    }),

    handle(operations.getScimUser, async ({ db, etag }, { params, query }) => {
      const id = found(idOf(params.id), 'user_not_found');
      const row = found(await store.findScimUser(db, id), 'user_not_found');
      const { state, resource } = userResource(row, baseUrl);
      etag.send(state);
      return show(resource, shownOf(query));
    }),

    handle(operations.replaceScimUser, ({ change, etag }, { params, query, body }) => {
      requireSchema(body, scimUrns.user);
      const doc = lowerKeys(body) as Doc;
      return change(async (tx) => {
        const before = await lockScimUser(tx, idOf(params.id));
        etag.require(stateOf(before));
        const { row, changes } = await updateScimUser(tx, before, fieldsOf(doc, before.email));
        etag.send(stateOf(row));
        return { reply: show(userResource(row, baseUrl).resource, shownOf(query)), changes };
      });
    }),

    handle(operations.patchScimUser, ({ change, etag }, { params, query, body }) => {
      requireSchema(body, scimUrns.patch);
      const steps = stepsOf(body.Operations, patchableUser);
      return change(async (tx) => {
        const before = await lockScimUser(tx, idOf(params.id));
        etag.require(stateOf(before));
        const fields = patchedFieldsOf(patched(docOf(before), steps, patchableUser));
        const { row, changes } = await updateScimUser(tx, before, fields);
        etag.send(stateOf(row));
        return { reply: show(userResource(row, baseUrl).resource, shownOf(query)), changes };
      });
    }),

    handle(operations.deleteScimUser, ({ actor, change, etag }, { params }) =>
      change(async (tx) => {
        const before = await lockScimUser(tx, idOf(params.id));
        etag.require(stateOf(before));
        const user = await lockPerson(tx, before.id);
        // Callers cannot give their own content to themselves.
        const heirId = actor.userId === user.id ? undefined : actor.userId;
        const changes = await removal.deleteUser(tx, user, heirId).catch((error) => {
          throw isApiError(error, 'user_owns_content') ? ownContent() : error;
        });
        return { reply: undefined, changes };
      }),
    ),
  ];
}
