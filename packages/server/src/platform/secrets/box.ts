/**
 * The only way to store a secret that must be read again. A sealed value names its format and its key. It is bound to its
 * table, column and row, so that it cannot be opened anywhere else:
 *
 *   mark 4 | key id 8 | nonce 12 | tag 16 | encrypted
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { KEY_ID_BYTES, type Keyring } from './keyring.ts';

/** A column that holds sealed values. The domain that owns the table asks `Platform.box` for it. */
export interface BoxedColumn {
  table: string;
  column: string;
  /** The column that identifies the row. Each of its values must have exactly one text form. */
  keyColumn: string;
  /** What the values are, in plain words, for the operator. */
  holds: string;
  /**
   * The purpose of the key of old values without a mark, which consist only of a nonce, a tag and the encrypted data.
   */
  unmarkedPurpose?: string;
}

export interface Box {
  seal(rowKey: string, plain: Buffer): Buffer;
  /** Throws a `BoxError`. */
  open(rowKey: string, sealed: Buffer): Buffer;
}

export type BoxErrorCode =
  /** The value was sealed with a secret that we do not have. */
  | 'unknown_key'
  /** The value was changed, or belongs to another row or column. */
  | 'altered';

export class BoxError extends Error {
  readonly code: BoxErrorCode;

  constructor(code: BoxErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The last byte is the version of the format. */
const MARK = Buffer.from('box\x01', 'latin1');
const HEADER_BYTES = MARK.length + KEY_ID_BYTES;

/** Returns the first bytes of every value that was sealed with the key of this id. */
export const headerOf = (keyId: Buffer) => Buffer.concat([MARK, keyId]);
export const MARK_OF_SEALED = MARK;

export function createBox(place: BoxedColumn, keyring: Keyring): Box {
  const { table, column, unmarkedPurpose } = place;
  const keys = keyring.keysFor(`box ${table}.${column}`);
  const headers = keyring.ids.map(headerOf);
  const unmarkedKeys = unmarkedPurpose === undefined ? [] : keyring.keysFor(unmarkedPurpose);
  const boundTo = (rowKey: string, header: Buffer) =>
    Buffer.concat([header, Buffer.from(JSON.stringify([table, column, rowKey]))]);
  const nameOf = (rowKey: string) => `${table}.${column} of ${rowKey}`;

  function openUnmarked(rowKey: string, sealed: Buffer): Buffer {
    for (const key of unmarkedKeys) {
      try {
        return decrypt(key, sealed);
      } catch {
        // The value was sealed with another key, or changed. We cannot know which.
      }
    }
    throw new BoxError(
      'altered',
      `${nameOf(rowKey)} cannot be opened: it was altered, or sealed with another secret`,
    );
  }

  return {
    seal(rowKey, plain) {
      const header = headers[0]!;
      return Buffer.concat([header, encrypt(keys[0], plain, boundTo(rowKey, header))]);
    },
    open(rowKey, sealed) {
      if (!sealed.subarray(0, MARK.length).equals(MARK)) return openUnmarked(rowKey, sealed);
      const header = sealed.subarray(0, HEADER_BYTES);
      const key = keys[headers.findIndex((known) => known.equals(header))];
      if (!key) {
        const id = header.subarray(MARK.length).toString('hex');
        throw new BoxError(
          'unknown_key',
          `${nameOf(rowKey)} was sealed with the secret ${id}, which is not given`,
        );
      }
      try {
        return decrypt(key, sealed.subarray(HEADER_BYTES), boundTo(rowKey, header));
      } catch {
        throw new BoxError('altered', `${nameOf(rowKey)} was altered, or belongs to another row or column`);
      }
    },
  };
}

function encrypt(key: Buffer, plain: Buffer, boundTo: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(boundTo);
  const encrypted = [cipher.update(plain), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]);
}

function decrypt(key: Buffer, sealed: Buffer, boundTo?: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  if (boundTo) decipher.setAAD(boundTo);
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
