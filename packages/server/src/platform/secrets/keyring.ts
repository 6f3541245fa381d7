/**
 * Keys that are derived from the installation's secrets: one for each purpose, so that none can be used for another
 * purpose. There are several secrets while one is being replaced by the next.
 */
import { hkdfSync } from 'node:crypto';

/** Newest first: the first one seals and signs, and all of them open and verify. */
export type Keys = readonly [Buffer, ...Buffer[]];
/** The secret in use comes first. */
export type Secrets = readonly [string, ...string[]];

export const deriveKey = (secret: string, purpose: string, bytes = 32): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'oriel', purpose, bytes));

export const KEY_ID_BYTES = 8;

export interface Keyring {
  /** The ids by which sealed values name the secret that they were sealed with, in the order of `keysFor`. */
  readonly ids: Keys;
  /** Keys of 32 bytes. */
  keysFor(purpose: string): Keys;
}

export function createKeyring(secrets: Secrets): Keyring {
  const [current, ...others] = secrets;
  const ofEach = (derive: (secret: string) => Buffer): Keys => [derive(current), ...others.map(derive)];
  return {
    ids: ofEach((secret) => deriveKey(secret, 'key id', KEY_ID_BYTES)),
    keysFor: (purpose) => ofEach((secret) => deriveKey(secret, purpose)),
  };
}
