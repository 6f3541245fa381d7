/**
 * The keys that sign tokens. They live in the database, so that every server signs and verifies with the same ones, and
 * are replaced now and then. A replaced key stays until no token that it signed can be alive.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { Database } from '../db/database.ts';
import type { NotifiedCache } from '../db/notified-cache.ts';
import type { JobKind, Schedule } from '../jobs/jobs.ts';
import { decrypt, encrypt } from '../secrets.ts';
import * as store from './store.ts';

export const SIGNING_ALGORITHM = 'EdDSA';
const MAX_AGE_DAYS = 30;
/** Longer than a token lives, and than a server may go on signing with a key that it remembers. */
const KEEP_REPLACED_DAYS = 2;
/** How often an id that is not known is worth reading the keys anew: anybody can make one up. */
const LOOK_AGAIN_MS = 1000;

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

export function createSigningKeys(
  db: Database,
  cache: NotifiedCache<string, KeyRing>,
  secret: Buffer,
): SigningKeys {
  const read = async () => {
    const rows = await store.listSigningKeys(db);
    return rows.map((row): SigningKey => {
      const der = decrypt(secret, row.privateKey);
      const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
      return { id: row.id, privateKey, publicKey: createPublicKey(privateKey) };
    });
  };
  const reload = () => cache.load(RING, read);
  const all = async () => cache.get(RING) ?? (await reload());
  let lookedAgainAt = Number.NEGATIVE_INFINITY;
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
      if (known || Date.now() - lookedAgainAt < LOOK_AGAIN_MS) return known;
      // A key that another server made a moment ago.
      lookedAgainAt = Date.now();
      return has(await reload());
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
