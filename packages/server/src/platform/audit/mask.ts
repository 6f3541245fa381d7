const SECRET_FIELD =
  /password|passphrase|secret|token(?!_?url|_?expires_?at)|credential|authorization|cookie|^key$|^api_?key$|key_?hash|private_?key|^otp$|device_?code|user_?code|code_?verifier|(invitation|reset|password)_?(url|link)|connection_?string|^dsn$/i;

/**
 * Secrets that can be recognised wherever they stand: our own, JSON web tokens, private keys, passwords in addresses. Some
 * of our own hold the number of a row (secrets/checked-ids.ts), and the ids of embed sessions begin with it.
 *
 * Callers write these texts, so the time of each pattern must grow only with the length of the text: after a run of
 * characters of any length a pattern must match, or the run must end where the next match could begin.
 */
const SECRET_TEXT =
  /\bsk-[\w-]{16,}|\boriel_[a-z]+_(?:\d+\.)?[\w-]{16,}|\b\d{1,15}\.[\w-]{40,}|\$argon2\w*\$[^\s"]+|\beyJ[\w-]{8,}(?:\.[\w-]+)*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*|(?<=:\/\/[^\s/@:]*:)[^\s/@]+(?=@)/g;

/** No field of ours has a longer name, so a longer one is not searched: what it holds is masked. */
const NAME_MAX = 100;

export const MASK = '********';

export const maskText = (text: string) => text.replaceAll(SECRET_TEXT, MASK);

const isSecret = (field: string, content: unknown) =>
  content !== null && (field.length > NAME_MAX || SECRET_FIELD.test(field));

/** For `JSON.stringify`: masks secrets only by the names of their fields, which takes little time for large values. */
export const maskFields = (field: string, content: unknown) => (isSecret(field, content) ? MASK : content);

/** Returns a copy in which secrets are masked, at any depth: by the name of their field, or by their form. */
export function maskSecrets<T>(value: T): T {
  if (typeof value === 'string') return maskText(value) as T;
  if (Array.isArray(value)) return value.map(maskSecrets) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const masked = Object.entries(value).map(([field, content]) => [
    maskText(field),
    isSecret(field, content) ? MASK : maskSecrets(content),
  ]);
  return Object.fromEntries(masked) as T;
}
