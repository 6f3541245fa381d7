/** Reads what a provider says about a person. */

export type Claims = Record<string, unknown>;

/** Whether the database can store the text as it is. */
const isStorable = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && !text.includes('\0') && text.isWellFormed();

/** OpenID Connect allows subjects of up to 255 characters. */
const SUBJECT_MAX = 255;
export const isSubject = (subject: string) => isStorable(subject) && subject.length <= SUBJECT_MAX;

/** Undefined if the claim has another form. */
export const textIn = (claims: Claims, claim: string): string | undefined =>
  isStorable(claims[claim]) ? claims[claim] : undefined;

/** The names of the groups. A claim that is missing or has another form names none, so nobody keeps a group by it. */
export function groupNamesIn(claims: Claims, claim: string): string[] {
  const value = claims[claim];
  const names = Array.isArray(value) ? value : [value];
  return names.filter(isStorable);
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
  // Some providers send the text `false`. Others, such as Entra ID, send nothing.
  const isUnverified = email_verified === false || email_verified === 'false';
  if (!isStorable(email) || !EMAIL.test(email) || isUnverified) return undefined;
  const firstName = [given_name, name].filter(isStorable).find((text) => text.trim() !== '');
  const isAddress = isStorable(picture) && picture.startsWith('https://') && picture.length <= 2048;
  return {
    email,
    firstName: firstName ? cut(firstName.trim(), 255) : null,
    picture: isAddress ? picture : null,
  };
}

/** Cuts between characters: half of one could not be stored. */
const cut = (text: string, max: number) => {
  const short = text.slice(0, max);
  return short.isWellFormed() ? short : short.slice(0, -1);
};

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
