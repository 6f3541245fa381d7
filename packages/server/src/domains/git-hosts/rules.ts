import { invalid } from '../../platform/errors.ts';
import { addressProblem } from '../../platform/outbound/addresses.ts';

/** The name becomes the end of an address, which must not lead elsewhere on the host. */
export function requireRepositoryName(name: string, field: string): void {
  const parts = name.split('/');
  if (parts.every((part) => part !== '' && !/^\.+$|[\s\p{Cc}\\?#%]/u.test(part))) return;
  throw invalid(field, 'must be the name of a repository, such as acme/model');
}

/**
 * An address without a slash at its end. One with credentials in it is refused: the token must not go to whoever reads
 * the address. `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES.
 */
export function plainUrl(text: string, field: string, options: { allowPrivate: boolean }): string {
  const problem = addressProblem(text, options);
  if (problem) throw invalid(field, problem);
  const url = new URL(text);
  if (url.search || text.includes('?')) throw invalid(field, 'must not have a query');
  return url.href.replace(/\/+$/, '');
}
