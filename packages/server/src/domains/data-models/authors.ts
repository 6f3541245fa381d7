import type { Queryable } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { findPerson } from './store.ts';

export interface Author {
  name: string;
  email: string;
}

/** Who commits. The name is the one that people see, and the email the one that they sign in with. */
export async function authorOf(db: Queryable, userId: number): Promise<Author> {
  const { username, firstName, email } = found(await findPerson(db, userId), 'forbidden');
  return { name: firstName?.trim() || username, email };
}

export const messageOf = (given: string | null | undefined, otherwise: string): string =>
  given?.trim() ? given : otherwise;
