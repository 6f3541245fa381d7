/**
 * The keys that sign tokens. They are in the database, so that every server signs and verifies with the same keys. Keys
 * are replaced regularly. A replaced key stays until every token that it signed has expired. Each kind of token has keys
 * of its own, so that no token can be taken for one of another kind.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { calculateJwkThumbprint } from 'jose';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import * as store from './store.ts';

const MAX_AGE_DAYS = 30;

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

interface KeyKind {
  /** The private parts. */
  column: BoxedColumn;
  /** How notifications name the keys. */
  subject: string;
  store: store.KeyStore;
  generate(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }>;
  /** How long a new key is published before it signs, because verifiers cache the list of keys. */
  publishAheadHours: number;
  /**
   * Longer than `publishAheadHours`, plus the time for which a token is valid, plus the time for which a server may still
   * sign with a key that it remembers.
   */
  keepReplacedDays: number;
}

export const SIGNING_ALGORITHM = 'EdDSA';
export const SIGNING_KEY_COLUMN: BoxedColumn = {
  table: 'signing_keys',
  column: 'private_key',
  keyColumn: 'id',
  holds: 'the private keys that sign embed tokens',
  unmarkedPurpose: 'signing keys',
};

/** The keys of embed tokens. */
const EMBED_KEYS: KeyKind = {
  column: SIGNING_KEY_COLUMN,
  subject: 'signing-keys',
  store: store.signingKeys,
  generate: async () => generateKeyPairSync('ed25519'),
  publishAheadHours: 0,
  keepReplacedDays: 2,
};

/** The one algorithm that every cloud takes. */
export const WORKLOAD_ALGORITHM = 'RS256';
export const WORKLOAD_KEY_COLUMN: BoxedColumn = {
  table: 'workload_keys',
  column: 'private_key',
  keyColumn: 'id',
  holds: 'the private keys that sign tokens of workloads',
};

/** The keys of the tokens with which engines identify themselves to clouds. */
const WORKLOAD_KEYS: KeyKind = {
  column: WORKLOAD_KEY_COLUMN,
  subject: 'workload-keys',
  store: store.workloadKeys,
  // Takes tenths of a second, so not in this thread.
  generate: () => promisify(generateKeyPair)('rsa', { modulusLength: 2048 }),
  publishAheadHours: 24,
  keepReplacedDays: 3,
};

type Needs = Pick<Platform, 'essential' | 'createCache' | 'box'>;

export const createSigningKeys = (platform: Needs) => createKeys(platform, EMBED_KEYS);
export const createWorkloadKeys = (platform: Needs) => createKeys(platform, WORKLOAD_KEYS);

const RING = 'ring';
/** Limits database reads, because anybody can send tokens with unknown key ids. New keys are also notified. */
const LOOK_AGAIN_EVERY_MS = 1000;

interface OpenedKey extends SigningKey {
  /** When the key begins to sign, in milliseconds since 1970. */
  signsFrom: number;
}

function createKeys({ essential: db, createCache, box: boxFor }: Needs, kind: KeyKind): SigningKeys {
  const box = boxFor(kind.column);
  const cache = createCache<string, OpenedKey[]>(() => [kind.subject]);
  /** The keys from the last read. The key of an id never changes, so each key is decrypted only once. */
  let opened: OpenedKey[] = [];
  let lookedAgainAt = Number.NEGATIVE_INFINITY;

  const read = async () => {
    const rows = await listOrMake();
    const ring = rows.map((row) => opened.find(({ id }) => id === row.id) ?? open(row));
    opened = ring;
    return ring;
  };
  const open = (row: store.SigningKeyRow): OpenedKey => {
    const der = box.open(row.id, row.privateKey);
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const signsFrom = Date.parse(row.createdAt) + kind.publishAheadHours * 3_600_000;
    return { id: row.id, privateKey, publicKey: createPublicKey(privateKey), signsFrom };
  };

  async function listOrMake() {
    const rows = await kind.store.list(db);
    if (rows.length) return rows;
    await addIfNeeded();
    return kind.store.list(db);
  }

  /** If several servers find the keys too old at the same time, each may add a key. Each of these keys can be used. */
  async function addIfNeeded() {
    const { publicKey, privateKey } = await kind.generate();
    const jwk = publicKey.export({ format: 'jwk' });
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    const id = await calculateJwkThumbprint(jwk);
    const key = { id, publicKey: jwk, privateKey: box.seal(id, der) };
    await kind.store.insert(db.writes, key, MAX_AGE_DAYS);
  }

  const all = async () => cache.get(RING) ?? (await cache.load(RING, read));
  return {
    all,
    async current() {
      const ring = await all();
      // If no key was published for long enough, the oldest one was published for the longest time.
      const key = ring.find(({ signsFrom }) => signsFrom <= Date.now()) ?? ring.at(-1);
      if (!key) throw new Error('there is no key to sign with');
      return key;
    },
    async find(id) {
      const has = (ring: OpenedKey[]) => ring.find((key) => key.id === id);
      const known = has(await all());
      if (known || performance.now() - lookedAgainAt < LOOK_AGAIN_EVERY_MS) return known;
      lookedAgainAt = performance.now();
      // Another server may have created the key a moment ago.
      return has(await cache.load(RING, read));
    },
    async rotate() {
      await addIfNeeded();
      await kind.store.deleteReplaced(db.writes, kind.keepReplacedDays);
    },
  };
}

/** `name` is that of the schedule, such as `signing-keys.rotate`. */
export const keyRotation = (name: string, keys: SigningKeys): Schedule => ({
  name,
  cron: '23 3 * * *',
  kind: { name, run: () => keys.rotate() },
});
