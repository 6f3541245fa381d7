/** A viewer whom an admin describes: as a session with the same fields would make them. Nothing is stored. */
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { fitsType, valueWords } from '../user-attributes/index.ts';
import * as store from './store.ts';
import { attributesInForce } from './viewer.ts';

export interface ViewerDescription {
  /** The embed tenant whose catalogue of groups and attributes counts; null for that of the account. */
  catalogue: string | null;
  /** The user whose groups and attributes count where none are described. */
  userId: number | null;
  groups?: string[] | null | undefined;
  tenantGroups?: string[] | null | undefined;
  userAttributes?: Record<string, unknown> | null | undefined;
}

/** Throws a 400 for groups and attributes that there are not, and for values of another type. */
export async function describedViewer(db: Queryable, described: ViewerDescription) {
  const { catalogue, userId, groups, tenantGroups, userAttributes } = described;
  const rights = await store.findRights(db, userId, catalogue);
  await requireGroups(db, catalogue, [...new Set([...(groups ?? []), ...(tenantGroups ?? [])])]);
  requireAttributes(rights, userAttributes ?? {});
  return {
    groups: groups ?? rights.groups,
    tenantGroups: tenantGroups ?? rights.tenantGroups,
    userAttributes: attributesInForce({
      attributes: rights.attributes.map((attribute) =>
        Object.hasOwn(userAttributes ?? {}, attribute.name)
          ? { ...attribute, value: userAttributes![attribute.name] as typeof attribute.value }
          : attribute,
      ),
    }),
  };
}

async function requireGroups(db: Queryable, catalogue: string | null, names: string[]) {
  const known = new Set(await store.listGroupNames(db, catalogue, names));
  const missing = names.filter((name) => !known.has(name));
  if (missing.length === 0) return;
  const message = `Groups with names ${missing.join(', ')} not found`;
  throw new ApiError('groups_not_found', { message });
}

function requireAttributes({ attributes }: store.RightsRow, given: Record<string, unknown>) {
  const types = new Map(attributes.map(({ name, type }) => [name, type]));
  const unknown = Object.keys(given).filter((name) => !types.has(name));
  if (unknown.length)
    throw new ApiError('user_attributes_not_found', {
      issues: unknown.map((name) => ({
        path: `userAttributes.${name}`,
        message: 'There is no such attribute.',
      })),
    });
  for (const [name, value] of Object.entries(given)) {
    const type = types.get(name)!;
    if (value !== null && !fitsType(type, value))
      throw invalid(`userAttributes.${name}`, `must be ${valueWords(type)}, or null`);
  }
}
