import type { Issue } from '../../../platform/errors.ts';

/** A user of an embed tenant, by exactly one of the two. */
export interface MemberInput {
  embedUserId?: number | null;
  externalId?: string | null;
}

export interface NamedUsers {
  ids: number[];
  externalIds: string[];
}

/** What keeps members from being read as one user each. */
export const ambiguousMembers = (members: readonly MemberInput[]): Issue[] =>
  members.flatMap(({ embedUserId, externalId }, i) =>
    (embedUserId == null) === (externalId == null)
      ? [{ path: `members[${i}]`, message: 'must have either embedUserId or externalId' }]
      : [],
  );

export const namedUsers = (members: readonly MemberInput[]): NamedUsers => ({
  ids: members.flatMap(({ embedUserId }) => embedUserId ?? []),
  externalIds: members.flatMap(({ externalId }) => externalId ?? []),
});

/** The members that are none of these users. */
export function unknownMembers(
  members: readonly MemberInput[],
  users: readonly { id: number; externalId: string }[],
): Issue[] {
  const ids = new Set(users.map(({ id }) => id));
  const externalIds = new Set(users.map(({ externalId }) => externalId));
  const message = 'The embed tenant has no such user.';
  return members.flatMap(({ embedUserId, externalId }, i) => {
    if (embedUserId != null)
      return ids.has(embedUserId) ? [] : [{ path: `members[${i}].embedUserId`, message }];
    return externalIds.has(externalId!) ? [] : [{ path: `members[${i}].externalId`, message }];
  });
}
