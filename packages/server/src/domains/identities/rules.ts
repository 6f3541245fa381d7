/** Reads what a provider says about a person. */

export type Claims = Record<string, unknown>;

/** The names of the groups. A claim that is missing or has another form names none, so nobody keeps a group by it. */
export function groupNamesIn(claims: Claims, claim: string): string[] {
  const value = claims[claim];
  const names = Array.isArray(value) ? value : [value];
  return names.filter((name): name is string => typeof name === 'string' && name !== '');
}

export interface NewPerson {
  email: string;
  firstName: string | null;
  picture: string | null;
}

const EMAIL = /^[^\s@]{1,200}@[^\s@]{1,50}$/u;

/** Returns undefined without an email, or with one that the provider calls unverified: it may be somebody else's. */
export function personIn({
  email,
  email_verified,
  given_name,
  name,
  picture,
}: Claims): NewPerson | undefined {
  // Some providers send the word. Others, such as Entra ID, send nothing.
  const isUnverified = email_verified === false || email_verified === 'false';
  if (typeof email !== 'string' || !EMAIL.test(email) || isUnverified) return undefined;
  const firstName = [given_name, name].find((text) => typeof text === 'string' && text.trim() !== '');
  const isAddress = typeof picture === 'string' && picture.startsWith('https://') && picture.length <= 2048;
  return {
    email,
    firstName: (firstName as string | undefined)?.trim().slice(0, 255) ?? null,
    picture: isAddress ? picture : null,
  };
}

export interface GroupChanges {
  join: number[];
  leave: number[];
  /** The groups that the user is in because of the claim. */
  groupIds: number[];
}

/** A user leaves only groups that they joined by the claim. What an admin gave them by hand stays. */
export function groupChanges(
  groups: readonly { id: number; isNamed: boolean; isMember: boolean }[],
  joinedByClaim: readonly number[],
): GroupChanges {
  const idsOf = (list: typeof groups) => list.map(({ id }) => id);
  const join = idsOf(groups.filter(({ isNamed, isMember }) => isNamed && !isMember));
  const leave = idsOf(
    groups.filter(({ id, isNamed, isMember }) => isMember && !isNamed && joinedByClaim.includes(id)),
  );
  const stay = groups.filter(
    ({ id, isNamed, isMember }) => isNamed && isMember && joinedByClaim.includes(id),
  );
  return { join, leave, groupIds: [...idsOf(stay), ...join].sort((a, b) => a - b) };
}
