import type { ErrorCode } from '@oriel/contract';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, type Issue } from '../../platform/errors.ts';
import type { EmbedUserRow } from '../embed-tenants/index.ts';
import {
  ambiguousMembers,
  badExternalIds,
  type MemberInput,
  namedUsers,
  unknownExternalIds,
  unknownIds,
} from './embed-group-rules.ts';
import * as store from './embed-groups.store.ts';

const ISSUES_MAX = 20;

export const requireUnambiguous = (members: readonly MemberInput[]) =>
  refuse('invalid_request', ambiguousMembers(members));

export const requireExternalIds = (members: readonly MemberInput[]) =>
  refuse('invalid_external_id', badExternalIds(members));

export interface Members {
  users: EmbedUserRow[];
  /** The users that this request has created. */
  madeUserIds: number[];
}

/**
 * Returns the users of the embed tenant that a request names. New external ids become users, and an unknown id is an
 * error. Nobody can delete these users until the commit.
 */
export async function ensureMembers(
  tx: Tx,
  tenant: string,
  members: readonly MemberInput[],
  maxExternalUsers: number,
): Promise<Members> {
  const named = namedUsers(members);
  const known = await store.lockUsers(tx, tenant, named);
  refuse('user_not_found', unknownIds(members, known));
  const missing = unknownExternalIds(members, known);
  if (!missing.length) return { users: known, madeUserIds: [] };
  const made = await store.insertUsers(tx, tenant, missing, maxExternalUsers);
  const madeUserIds = made.flatMap(({ id }) => id ?? []);
  if (madeUserIds.length < missing.length) throw new ApiError('external_user_limit_reached');
  return { users: await store.lockUsers(tx, tenant, named), madeUserIds };
}

function refuse(code: ErrorCode, issues: Issue[]) {
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const message = `${first.path}: ${first.message}${more}`;
  throw new ApiError(code, { message, issues: issues.slice(0, ISSUES_MAX) });
}
