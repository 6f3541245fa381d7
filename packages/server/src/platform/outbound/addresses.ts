/** Which addresses of the internet an outgoing request may reach. */
import { BlockList, isIP } from 'node:net';

/** The special-purpose networks of RFC 6890, and addresses at which clouds serve secrets to their machines. */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];
/** Everything else of IPv6 is local, multicast, or contains an IPv4 address. */
const PUBLIC_6 = ['2000::/3'];
/** Tunnels, which contain an IPv4 address, and addresses for documentation. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

function listOf(networks: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string];
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const notPublic4 = listOf(NOT_PUBLIC_4, 'ipv4');
const public6 = listOf(PUBLIC_6, 'ipv6');
const notPublic6 = listOf(NOT_PUBLIC_6, 'ipv6');

/** Returns false for everything that is not the address of a server on the public internet. */
export function isPublicAddress(address: string): boolean {
  // An address with a zone, such as fe80::1%eth0, is local.
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !notPublic4.check(address, 'ipv4');
    case 6:
      return public6.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
    default:
      return false;
  }
}

/**
 * Returns what is wrong with an address that a user gives this server to send requests to, in words that follow its
 * name. Undefined if it can be stored. `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES. Names are resolved when a request
 * is sent, and the guard decides then.
 */
export function addressProblem(
  text: string,
  { allowPrivate }: { allowPrivate: boolean },
): string | undefined {
  if (!URL.canParse(text)) return 'is not an address';
  const { protocol, username, password, hash, hostname } = new URL(text);
  if (username || password) return 'must not have a user name or a password in it';
  if (hash || text.includes('#')) return 'must not have a part behind #';
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:'))
    return `must begin with https://${allowPrivate ? ' or http://' : ''}`;
  if (allowPrivate) return undefined;
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isPrivate = isIP(host) ? !isPublicAddress(host) : /(^|\.)localhost$/.test(host);
  return isPrivate
    ? 'must not be an address of this machine or of a private network, which only ORIEL_ALLOW_PRIVATE_REMOTES allows'
    : undefined;
}
