import type { ErrorCode } from '@oriel/contract';
import type { Tx } from '../../../platform/db/database.ts';
import { ApiError, type Issue } from '../../../platform/errors.ts';
import type { EmbedUserRow } from '../store.ts';
import { ambiguousMembers, type MemberInput, namedUsers, unknownMembers } from './rules.ts';
import * as store from './store.ts';

const ISSUES_MAX = 20;

export const requireUnambiguous = (members: readonly MemberInput[]) =>
  refuse('invalid_request', ambiguousMembers(members));

/** Refuses a request that names somebody who is not of the embed tenant. The others can not go until the commit. */
export async function requireMembers(
  tx: Tx,
  tenant: string,
  members: readonly MemberInput[],
): Promise<EmbedUserRow[]> {
  const users = await store.lockUsers(tx, tenant, namedUsers(members));
  refuse('invalid_reference', unknownMembers(members, users));
  return users;
}

function refuse(code: ErrorCode, issues: Issue[]) {
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const message = `${first.path}: ${first.message}${more}`;
  throw new ApiError(code, { message, issues: issues.slice(0, ISSUES_MAX) });
}
