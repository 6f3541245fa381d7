/** Secrets that programs send: long and random, stored as a hash. */
import { hash, randomBytes } from 'node:crypto';

/** 256 random bits, as text. */
export const randomSecret = () => randomBytes(32).toString('base64url');

/** Such a secret cannot be guessed, so a slow hash would add nothing. */
export const hashSecret = (secret: string) => hash('sha256', secret, 'buffer');
