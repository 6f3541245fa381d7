const SECRET_FIELD =
  /password|passphrase|secret|token|credential|authorization|cookie|^key$|^api_?key$|key_?hash|private_?key|^otp$|device_?code|user_?code|code_?verifier|(invitation|reset|password)_?(url|link)|connection_?string|^dsn$/i;

/**
 * Secrets that can be recognised wherever they stand: our own, JSON web tokens, private keys, passwords in addresses. Some
 * of our own hold the number of a row (secrets/checked-ids.ts), and the ids of embed sessions begin with it.
 */
const SECRET_TEXT =
  /\bsk-[\w-]{16,}|\boriel_[a-z]+_(?:\d+\.)?[\w-]{16,}|\b\d{1,15}\.[\w-]{40,}|\$argon2\w*\$[^\s"]+|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*|(?<=:\/\/[^\s/@:]*:)[^\s/@]+(?=@)/g;

/** Longer texts do not go into the log; see `shorten`. */
const TEXT_MAX = 16 * 1024;

export const MASK = '********';

/** Returns a copy in which secrets are masked, at any depth: by the name of their field, or by their form. */
export function maskSecrets<T>(value: T): T {
  if (typeof value === 'string') {
    return (value.length > TEXT_MAX ? value : value.replaceAll(SECRET_TEXT, MASK)) as T;
  }
  if (Array.isArray(value)) return value.map(maskSecrets) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const masked = Object.entries(value).map(([field, content]) => [
    field,
    SECRET_FIELD.test(field) && content !== null ? MASK : maskSecrets(content),
  ]);
  return Object.fromEntries(masked) as T;
}
