import { hash } from '@node-rs/argon2';

/** Argon2id with the library's defaults, which follow OWASP's advice. Runs on a thread of its own. */
export const hashPassword = (password: string) => hash(password);
