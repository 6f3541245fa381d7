import { operations } from '@oriel/contract';
import { ApiError, invalid } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { fitsType, valueInForce, valueWords } from './rules.ts';
import * as store from './store.ts';

export const userAttributeValueRoutes = () => [
  handle(operations.getUserAttributeValues, async ({ db }, { params }) => {
    const values = await store.listUserAttributeValues(db, params.userId);
    if (!values.length && !(await store.hasUser(db, params.userId))) throw new ApiError('user_not_found');
    return values.map(toReply);
  }),

  handle(operations.upsertUserAttributeValue, ({ change }, { body }) => {
    const userId = toId('userId', body.userId);
    const attributeId = toId('userAttributeId', body.userAttributeId);
    const { value = null } = body;
    return change(async (tx) => {
      if (!(await store.lockUser(tx, userId))) throw new ApiError('user_not_found');
      if (!(await store.keepUserAttribute(tx, attributeId))) throw new ApiError('user_attribute_not_found');
      const before = await store.findUserAttributeValue(tx, userId, attributeId);
      if (value === null && before.value === null) return { reply: toReply(before), changes: [] };
      if (value === null) await store.deleteUserAttributeValue(tx, userId, attributeId);
      else {
        requireFittingValue(before, value);
        await store.upsertUserAttributeValue(tx, userId, attributeId, value);
      }
      const after = { ...before, value };
      const id = `${userId}/${attributeId}`;
      return { reply: toReply(after), changes: { id, before: toAudited(before), after: toAudited(after) } };
    });
  }),
];

const toReply = ({ defaultValue, ...row }: store.UserAttributeValueRow) => ({
  ...row,
  formattedValue: valueInForce(row.type, row.value, defaultValue),
});

const toAudited = ({ userId, userAttributeId, name, value }: store.UserAttributeValueRow) =>
  value === null ? null : { userId, userAttributeId, name, value };

function requireFittingValue({ name, type }: store.UserAttributeValueRow, value: unknown) {
  if (fitsType(type, value)) return;
  const message = `The value of ${JSON.stringify(name)} must be ${valueWords(type)}.`;
  throw invalid('value', message, 'attribute_value_mismatch');
}

/** The schema allows any number of digits, so the number can be larger than any id. */
function toId(path: string, given: number | string): number {
  const id = Number(given);
  if (!Number.isSafeInteger(id)) throw invalid(path, `must be <= ${Number.MAX_SAFE_INTEGER}`);
  return id;
}
