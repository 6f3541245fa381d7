/** The secret of an API key: its form, how it is generated, and the hash that is stored. */
import { hash, randomBytes } from 'node:crypto';

export const API_KEY_PREFIX = 'sk-';
const KEY_PATTERN = /^sk-[\x21-\x7e]{8,253}$/;

export const looksLikeApiKey = (text: string) => KEY_PATTERN.test(text);

export const generateApiKey = () => API_KEY_PREFIX + randomBytes(32).toString('base64url');

export const hashApiKey = (key: string) => hash('sha256', key, 'buffer');
