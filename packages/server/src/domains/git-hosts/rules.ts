import { invalid } from '../../platform/errors.ts';

/** The name becomes the end of an address, which must not lead elsewhere on the host. */
export function requireRepositoryName(name: string, field: string): void {
  const parts = name.split('/');
  if (parts.every((part) => part !== '' && !/^\.+$|[\s\\?#%]/.test(part))) return;
  throw invalid(field, 'must be the name of a repository, such as acme/model');
}

/**
 * An address without a slash at its end. One with credentials in it is refused: the token must not go to whoever reads
 * the address.
 */
export function plainUrl(text: string, field: string): string {
  const url = new URL(text);
  if (url.username || url.password)
    throw invalid(field, 'must not contain a user name or password: give `username` and `token`');
  if (url.search || url.hash) throw invalid(field, 'must not have a query or a fragment');
  return url.href.replace(/\/+$/, '');
}
