/**
 * The keys that sign tokens. They live in the database, so that every server signs and verifies with the same ones, and
 * are replaced now and then. A replaced key stays until no token that it signed can be alive.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { Database } from '../db/database.ts';
import type { NotifiedCache } from '../db/notified-cache.ts';
import type { JobKind } from '../jobs/jobs.ts';
import type { Schedule } from '../jobs/schedules.ts';
import { decrypt, encrypt } from '../secrets.ts';
import * as store from './store.ts';

export const SIGNING_ALGORITHM = 'EdDSA';
const MAX_AGE_DAYS = 30;
/** Longer than a token lives, and than a server may go on signing with a key that it remembers. */
const KEEP_REPLACED_DAYS = 2;

export interface SigningKey {
  id: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

/** Newest first. */
export type KeyRing = SigningKey[];

export interface SigningKeys {
  /** The key to sign with. */
  current(): Promise<SigningKey>;
  find(id: string): Promise<SigningKey | undefined>;
  all(): Promise<KeyRing>;
}

const RING = 'ring';
/** Anybody can send tokens of a key that does not exist. Those of a key that was just made are notified, too. */
const LOOK_AGAIN_EVERY_MS = 1000;

export function createSigningKeys(
  db: Database,
  cache: NotifiedCache<string, KeyRing>,
  secret: Buffer,
): SigningKeys {
  /** Those that were read last: what an id stands for never changes, so each is decrypted once. */
  let opened: KeyRing = [];
  let lookedAgainAt = Number.NEGATIVE_INFINITY;

  const read = async () => {
    const rows = await store.listSigningKeys(db);
    const ring = rows.map((row) => opened.find(({ id }) => id === row.id) ?? open(row));
    opened = ring;
    return ring;
  };
  const open = (row: store.SigningKeyRow): SigningKey => {
    const der = decrypt(secret, row.privateKey);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    return { id: row.id, privateKey, publicKey: createPublicKey(privateKey) };
  };
  const all = async () => cache.get(RING) ?? (await cache.load(RING, read));
  return {
    all,
    async current() {
      const [newest] = await all();
      if (!newest) throw new Error('there is no key to sign with');
      return newest;
    },
    async find(id) {
      const has = (ring: KeyRing) => ring.find((key) => key.id === id);
      const known = has(await all());
      if (known || performance.now() - lookedAgainAt < LOOK_AGAIN_EVERY_MS) return known;
      lookedAgainAt = performance.now();
      // A key that another server made a moment ago.
      return has(await cache.load(RING, read));
    },
  };
}

/** Of several servers that find the key too old at once, each may add one: any of them serves. */
export async function rotateSigningKeys(db: Database, secret: Buffer): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as store.SigningKeyRow['publicKey'];
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  const key = {
    id: await calculateJwkThumbprint(jwk),
    publicKey: jwk,
    privateKey: encrypt(secret, der),
  };
  await store.insertSigningKey(db, key, MAX_AGE_DAYS);
  await store.deleteReplacedSigningKeys(db, KEEP_REPLACED_DAYS);
}

export function signingKeyRotation(secret: Buffer): Schedule {
  const kind: JobKind = {
    name: 'signing-keys.rotate',
    run: (_payload, { db }) => rotateSigningKeys(db, secret),
  };
  return { name: kind.name, cron: '23 3 * * *', kind };
}
