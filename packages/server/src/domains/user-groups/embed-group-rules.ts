import type { Issue } from '../../platform/errors.ts';

/** A user of an embed tenant. Exactly one of the two fields must be given. */
export interface MemberInput {
  embedUserId?: number | null;
  externalId?: string | null;
}

export interface NamedUsers {
  ids: number[];
  externalIds: string[];
}

/** Issues for members that do not name exactly one user. */
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

/** Members may become new users, so their external ids must follow the same rules as in sessions. */
export const badExternalIds = (members: readonly MemberInput[]): Issue[] =>
  members.flatMap(({ externalId }, i) =>
    externalId == null || externalId === externalId.toLowerCase().trim()
      ? []
      : [{ path: `members[${i}].externalId`, message: 'must be lowercase and trimmed' }],
  );

/** Issues for members whose id none of these users has. */
export function unknownIds(members: readonly MemberInput[], users: readonly { id: number }[]): Issue[] {
  const ids = new Set(users.map(({ id }) => id));
  return members.flatMap(({ embedUserId }, i) =>
    embedUserId == null || ids.has(embedUserId)
      ? []
      : [{ path: `members[${i}].embedUserId`, message: 'The embed tenant has no such user.' }],
  );
}

/** The external ids that none of these users has, each once. */
export function unknownExternalIds(
  members: readonly MemberInput[],
  users: readonly { externalId: string }[],
): string[] {
  const known = new Set(users.map(({ externalId }) => externalId));
  return [...new Set(namedUsers(members).externalIds)].filter((externalId) => !known.has(externalId));
}
