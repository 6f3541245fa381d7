/**
 * Argon2id with the parameters that OWASP advises. It runs on threads that also read files and resolve names, so only a
 * few passwords are hashed at once in a process. The others wait for their turn.
 */
import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import type { Sharer } from '../../platform/admission/admission.ts';
import { type PasswordOwner, requireHardPassword } from './easy-passwords.ts';
import { createHashing } from './hashing.ts';

/** Worlds of tests make it cheaper; see `test/setup.ts`. */
export const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const hashing = createHashing();

/** The same password may be typed in several Unicode forms, depending on the keyboard. */
const normalized = (password: string) => password.normalize('NFC');

/** `caller` is the address that the password comes from. Rejects with a 503 if too many wait. */
export const hashPassword = (password: string, caller: Sharer = null) =>
  hashing.pass(caller, () => hash(normalized(password), COST));

/** Checks and hashes a password that a person chose. `path` is the field of the request that has it. */
export async function hashNewPassword(
  path: string,
  password: string,
  owner: PasswordOwner,
  caller: Sharer,
): Promise<string> {
  requireHardPassword(path, password, owner);
  return hashPassword(password, caller);
}

let nobodysHash: Promise<string> | undefined;

/** Without a stored hash it takes as long as with one, and is never right. Rejects with a 503 if too many wait. */
export async function verifyPassword(
  stored: string | null,
  password: string,
  caller: Sharer,
): Promise<boolean> {
  nobodysHash ??= hash(randomBytes(32).toString('base64url'), COST);
  const nobodys = await nobodysHash;
  const isRight = await hashing.pass(caller, () => verify(stored ?? nobodys, normalized(password)));
  return isRight && stored !== null;
}
