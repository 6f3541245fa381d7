/** Where to go after signing in. Nobody may send people from our sign-in page to another site. */

const BASE = 'http://oriel.invalid';

/** Beginnings of addresses that do something when they are opened. Only the page with their button may lead there. */
const ACTIONS = ['/sign-in/', '/sign-out/'];

/** The address if it is a page of this server, and otherwise the fallback. */
export function ownAddress(address: string | undefined, fallback: string): string {
  if (!address?.startsWith('/') || !URL.canParse(address, BASE)) return fallback;
  // As browsers read it: they take `\` for `/`, ignore tabs and line breaks, and resolve `/./`.
  const { origin, pathname, search } = new URL(address, BASE);
  if (origin !== BASE || pathname.startsWith('//') || isAction(pathname)) return fallback;
  return pathname + search;
}

/** The router decodes a path before it compares, so this does too. */
function isAction(pathname: string): boolean {
  try {
    const decoded = decodeURIComponent(pathname).toLowerCase();
    return ACTIONS.some((action) => decoded.startsWith(action));
  } catch {
    return true;
  }
}
