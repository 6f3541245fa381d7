/** People who sign in with a password. */
import type { OrielClient } from '@oriel/client';
import { unique, type World } from './world.ts';

export const PASSWORD = 'correct horse battery staple';

export interface Signable {
  id: number;
  email: string;
  username: string;
}

export const createSignable = async (
  { admin }: World,
  { roles, password = PASSWORD }: { roles?: string[]; password?: string } = {},
): Promise<Signable> => {
  const username = unique('person');
  const email = `${username}@example.com`;
  return admin.createUser({ body: { username, email, password, roles } });
};

export interface SignedInPerson extends Signable {
  accessToken: string;
  refreshToken: string;
  client: OrielClient;
}

/** A new person who has just signed in. */
export async function signedIn(world: World, options?: { roles?: string[] }): Promise<SignedInPerson> {
  const person = await createSignable(world, options);
  return { ...person, ...(await logIn(world, person)) };
}

export async function logIn(world: World, { email }: { email: string }, password = PASSWORD) {
  const { accessToken, refreshToken } = await world.client().login({ body: { email, password } });
  return { accessToken, refreshToken, client: world.bearer(accessToken) };
}

/** The status of a request with this token. */
export const statusWith = async (url: string, accessToken: string) =>
  (await fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Bearer ${accessToken}` } })).status;
