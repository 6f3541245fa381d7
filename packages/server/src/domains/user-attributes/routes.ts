import { operations } from '@oriel/contract';
import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { defaultWords, fitsDefault } from './rules.ts';
import * as store from './store.ts';

const LIMIT_DEFAULT = 50;

export const userAttributeRoutes = () => [
  handle(operations.getUserAttributes, async ({ db }, { query }) => {
    const filter = { name: query.name ?? null, type: query.type ?? null };
    const page = { offset: query.offset ?? 0, limit: query.limit ?? LIMIT_DEFAULT };
    const [count, data] = await Promise.all([
      store.countUserAttributes(db, filter),
      store.listUserAttributes(db, filter, page),
    ]);
    return { count, data };
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
