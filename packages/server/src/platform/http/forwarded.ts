/** Reads what proxies write into `X-Forwarded-For`. */
import { isIP } from 'node:net';

/**
 * Returns the addresses alone: some proxies add a port, which is another one for each connection. Each proxy adds its
 * entry at the end, so an entry that is no address ends the list: what is before it says nothing about the caller, who
 * then counts as the proxy that sent it.
 */
export function forwardedAddresses(header: string): string[] {
  const addresses: string[] = [];
  const entries = header.split(',').map((entry) => entry.trim());
  for (const entry of entries.filter(Boolean).reverse()) {
    const address = addressIn(entry);
    if (!address) break;
    addresses.unshift(address);
  }
  return addresses;
}

/** `192.0.2.1`, `192.0.2.1:5001`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:5001`, with any zone left out. */
function addressIn(entry: string): string | undefined {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(entry) ?? [];
  const address = (bracketed ?? dotted ?? entry).split('%', 1)[0]!;
  return isIP(address) ? address : undefined;
}
