import { operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { found, invalid } from '../../platform/errors.ts';
import { type Cursors, pageByIdOrOffset } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { defaultWords, fitsDefault } from './rules.ts';
import * as store from './store.ts';

const refuseTaken = refusing({ user_attributes_name_key: 'attribute_name_taken' });

export const userAttributeRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.getUserAttributes, async ({ db }, { query }) => {
    const filter = { name: query.name ?? null, type: query.type ?? null };
    const { items, pageInfo } = await pageByIdOrOffset(cursors, 'user attributes by id', query, (page) =>
      store.listUserAttributes(db, filter, page),
    );
    return { items, data: items, count: await store.countUserAttributes(db, filter), pageInfo };
  }),

  handle(operations.createUserAttribute, ({ change }, { body }) => {
    const { name, type, displayName = null, defaultValue = null, description = null } = body;
    const wanted = { name, type, displayName, defaultValue, description };
    requireFittingDefault(wanted);
    return change(async (tx) => {
      const attribute = await store.insertUserAttribute(tx, wanted).catch(refuseTaken);
      return { reply: attribute, changes: created(attribute) };
    });
  }),

  handle(operations.updateUserAttribute, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserAttribute(tx, params.id);
      const wanted = { ...before, ...body };
      requireFittingDefault(wanted);
      const after = await store.updateUserAttribute(tx, wanted);
      return { reply: after, changes: changed(before, after) };
    }),
  ),

  handle(operations.deleteUserAttribute, ({ change }, { params }) =>
    change(async (tx) => {
      const before = await lockUserAttribute(tx, params.id);
      await store.deleteUserAttribute(tx, before.id);
      return { reply: undefined, changes: deleted(before) };
    }),
  ),
];

const lockUserAttribute = async (tx: Tx, id: number) =>
  found(await store.lockUserAttribute(tx, id), 'user_attribute_not_found');

function requireFittingDefault({ name, type, defaultValue }: Omit<store.UserAttributeRow, 'id'>) {
  if (defaultValue === null || fitsDefault(type, defaultValue)) return;
  const message = `The default of ${JSON.stringify(name)} must be ${defaultWords(type)}.`;
  throw invalid('defaultValue', message, 'invalid_default_value');
}
