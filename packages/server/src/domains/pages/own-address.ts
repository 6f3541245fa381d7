/** Where to go after signing in. Nobody may send people from our sign-in page to another site. */

const BASE = 'http://oriel.invalid';

/** The address if it is a path of this server, and otherwise the fallback. */
export function ownAddress(address: string | undefined, fallback: string): string {
  if (!address?.startsWith('/') || !URL.canParse(address, BASE)) return fallback;
  // As browsers read it: they take `\` for `/`, ignore tabs and line breaks, and resolve `/./`.
  const { origin, pathname, search } = new URL(address, BASE);
  return origin === BASE && !pathname.startsWith('//') ? pathname + search : fallback;
}
