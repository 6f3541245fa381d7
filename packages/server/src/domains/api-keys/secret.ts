/** The secret of an API key: its form, how it is generated, and the hash that is stored. */
import { hashSecret, randomSecret } from '../../platform/secrets/random-secrets.ts';

export const API_KEY_PREFIX = 'sk-';
const KEY_PATTERN = /^sk-[\x21-\x7e]{8,253}$/;

export const looksLikeApiKey = (text: string) => KEY_PATTERN.test(text);

export const generateApiKey = () => API_KEY_PREFIX + randomSecret();

export const hashApiKey = hashSecret;
