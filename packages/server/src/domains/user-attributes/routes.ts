import { operations } from '@oriel/contract';
import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { defaultWords, fitsDefault } from './rules.ts';
import * as store from './store.ts';

const LIST = 'user attributes by id';

export const userAttributeRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.getUserAttributes, async ({ db }, { query }) => {
    const filter = { name: query.name ?? null, type: query.type ?? null };
    const byOffset = query.offset != null || query.limit != null;
    const byCursor = query.first !== undefined || query.after !== undefined;
    if (byOffset && byCursor) throw new ApiError('mixed_pagination');

    const size = pageSize(byOffset ? query.limit : query.first);
    const afterId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : 0;
    const count = await store.countUserAttributes(db, filter);
    const rows = await store.listUserAttributes(db, filter, {
      afterId,
      offset: query.offset ?? 0,
      limit: size + (byOffset ? 0 : 1),
    });
    const { items, pageInfo } = toPage(rows, {
      size,
      after: query.after,
      cursorOf: ({ id }) => cursors.encode(LIST, [id]),
    });
    return { items, data: items, count, pageInfo: byOffset ? null : pageInfo };
  }),

  handle(operations.createUserAttribute, ({ change }, { body }) => {
    const { name, type, displayName = null, defaultValue = null, description = null } = body;
    const wanted = { name, type, displayName, defaultValue, description };
    requireFittingDefault(wanted);
    return change(async (tx) => {
      const created = await store.insertUserAttribute(tx, wanted).catch(refuseTakenName);
      return { reply: created, changes: { id: created.id, before: null, after: created } };
    });
  }),

  handle(operations.updateUserAttribute, ({ change }, { params, body }) =>
    change(async (tx) => {
      const before = await lockUserAttribute(tx, params.id);
      const wanted = { ...before, ...body };
      requireFittingDefault(wanted);
      const after = await store.updateUserAttribute(tx, wanted);
      return { reply: after, changes: { id: after.id, before, after } };
    }),
  ),

  handle(operations.deleteUserAttribute, ({ change }, { params }) =>
    change(async (tx) => {
      const before = await lockUserAttribute(tx, params.id);
      await store.deleteUserAttribute(tx, before.id);
      return { reply: undefined, changes: { id: before.id, before, after: null } };
    }),
  ),
];

async function lockUserAttribute(tx: Tx, id: number) {
  const attribute = await store.lockUserAttribute(tx, id);
  if (!attribute) throw new ApiError('user_attribute_not_found');
  return attribute;
}

function requireFittingDefault({ name, type, defaultValue }: Omit<store.UserAttributeRow, 'id'>) {
  if (defaultValue === null || fitsDefault(type, defaultValue)) return;
  const message = `The default of ${JSON.stringify(name)} must be ${defaultWords(type)}.`;
  throw invalid('defaultValue', message, 'invalid_default_value');
}

function refuseTakenName(error: unknown): never {
  if (violatedConstraint(error) === 'user_attributes_name_key') throw new ApiError('attribute_name_taken');
  throw error;
}
