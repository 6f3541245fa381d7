const SECRET_FIELD = /password|secret|token|credential|authorization|^key$|key_?hash|private_?key/i;

export const MASK = '********';

/** Returns a copy in which the values of fields with names such as `password` are masked, at any depth. */
export function maskSecrets<T>(value: T): T {
  if (Array.isArray(value)) return value.map(maskSecrets) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const masked = Object.entries(value).map(([field, content]) => [
    field,
    SECRET_FIELD.test(field) && content !== null ? MASK : maskSecrets(content),
  ]);
  return Object.fromEntries(masked) as T;
}
