/**
 * The keys that sign tokens. They are in the database, so that every server signs and verifies with the same keys. Keys
 * are replaced regularly. A replaced key stays until every token that it signed has expired.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import * as store from './store.ts';

export const SIGNING_ALGORITHM = 'EdDSA';
const MAX_AGE_DAYS = 30;
/** Longer than a token is valid plus the time for which a server may still sign with a key that it remembers. */
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
  /** Creates the first key if there is none. */
  all(): Promise<KeyRing>;
  /** Adds a key if the newest key is too old, and deletes keys that were replaced long ago. */
  rotate(): Promise<void>;
}

/** The private parts. */
export const SIGNING_KEY_COLUMN: BoxedColumn = {
  table: 'signing_keys',
  column: 'private_key',
  keyColumn: 'id',
  holds: 'the private keys that sign embed tokens',
  unmarkedPurpose: 'signing keys',
};

const RING = 'ring';
/** Limits database reads, because anybody can send tokens with unknown key ids. New keys are also notified. */
const LOOK_AGAIN_EVERY_MS = 1000;

export function createSigningKeys({
  essential: db,
  remember,
  box: boxFor,
}: Pick<Platform, 'essential' | 'remember' | 'box'>): SigningKeys {
  const box = boxFor(SIGNING_KEY_COLUMN);
  const remembered = remember<string, KeyRing>(() => ['signing-keys']);
  /** The keys from the last read. The key of an id never changes, so each key is decrypted only once. */
  let opened: KeyRing = [];
  let lookedAgainAt = Number.NEGATIVE_INFINITY;

  const read = async () => {
    const rows = await listOrMake();
    const ring = rows.map((row) => opened.find(({ id }) => id === row.id) ?? open(row));
    opened = ring;
    return ring;
  };
  const open = (row: store.SigningKeyRow): SigningKey => {
    const der = box.open(row.id, row.privateKey);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    return { id: row.id, privateKey, publicKey: createPublicKey(privateKey) };
  };

  async function listOrMake() {
    const rows = await store.listSigningKeys(db);
    if (rows.length) return rows;
    await addIfNeeded();
    return store.listSigningKeys(db);
  }

  /** If several servers find the keys too old at the same time, each may add a key. Each of these keys can be used. */
  async function addIfNeeded() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const jwk = publicKey.export({ format: 'jwk' }) as store.SigningKeyRow['publicKey'];
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const id = await calculateJwkThumbprint(jwk);
    await store.insertSigningKey(
      db.writes,
      { id, publicKey: jwk, privateKey: box.seal(id, der) },
      MAX_AGE_DAYS,
    );
  }

  const all = async () => remembered.get(RING) ?? (await remembered.load(RING, read));
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
      // Another server may have created the key a moment ago.
      return has(await remembered.load(RING, read));
    },
    async rotate() {
      await addIfNeeded();
      await store.deleteReplacedSigningKeys(db.writes, KEEP_REPLACED_DAYS);
    },
  };
}

export const signingKeyRotation = (keys: SigningKeys): Schedule => {
  const name = 'signing-keys.rotate';
  return { name, cron: '23 3 * * *', kind: { name, run: () => keys.rotate() } };
};
