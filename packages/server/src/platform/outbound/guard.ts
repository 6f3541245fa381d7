/**
 * Guards every socket that this server opens to others. What is checked is the address that the socket connects to, and
 * not the text that somebody wrote: `127.1`, `0x7f000001` and a name that resolves to 127.0.0.1 are all the same address.
 */
import { lookup } from 'node:dns';
import type { Agent } from 'node:http';
import { isIP, type LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isPublicAddress } from './addresses.ts';

/** Where requests may go. */
export interface Rules {
  protocols: readonly string[];
  isAllowed(address: string): boolean;
  /** Resolves names. */
  lookup: LookupFunction;
}

/** With `allowPrivate`, requests may reach loopback and private addresses, and may go without TLS. */
export const rulesOf = ({ allowPrivate }: { allowPrivate: boolean }): Rules => ({
  protocols: allowPrivate ? ['https:', 'http:'] : ['https:'],
  isAllowed: allowPrivate ? () => true : isPublicAddress,
  lookup: lookup as LookupFunction,
});

interface Guard extends Rules {
  /** Makes the error for an address that is not allowed. */
  refused: () => Error;
}

interface Target {
  host?: string | undefined;
  /** The path of a Unix socket. */
  path?: string | null | undefined;
}

/** Node looks up names only, so an address that is written as such is checked here. */
const isRefused = ({ host = '', path }: Target, { isAllowed }: Guard) =>
  Boolean(path) || (isIP(host) !== 0 && !isAllowed(host));

/**
 * The connection uses the addresses that this one look-up returned. A check before the request would not be safe,
 * because the name could have another address at the second look-up.
 */
const checkedLookup =
  ({ isAllowed, lookup, refused }: Guard): LookupFunction =>
  (name, options, callback) =>
    lookup(name, options, (error, found, family) => {
      if (error) return callback(error, '', 0);
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address);
      if (!addresses.every((address) => isAllowed(address))) return callback(refused(), '', 0);
      callback(null, found, family);
    });

/** Checks the connected address. It must be the first listener, so that nothing was sent yet. */
const checkConnected = (socket: Socket, { isAllowed, refused }: Guard) =>
  socket.prependOnceListener('connect', () => {
    if (!isAllowed(socket.remoteAddress ?? '')) socket.destroy(refused());
  });

/** Makes an agent of `node:http` or `node:https` open sockets to allowed addresses only. */
export function guardAgent<A extends Agent>(agent: A, rules: Rules, refused: () => Error): A {
  const guard = { ...rules, refused };
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    if (isRefused(options as Target, guard)) {
      // Thrown, it could end the process: an agent also opens sockets when others are closed.
      callback?.(refused(), undefined as unknown as Duplex);
      return undefined;
    }
    const socket = connect({ ...options, lookup: checkedLookup(guard) } as typeof options, callback);
    if (socket instanceof Socket) checkConnected(socket, guard);
    return socket;
  };
  return agent;
}

/** For drivers that connect sockets themselves. */
export class GuardedSocket extends Socket {
  readonly #guard: Guard;

  constructor(rules: Rules, refused: () => Error) {
    super();
    this.#guard = { ...rules, refused };
    checkConnected(this, this.#guard);
  }

  /** Takes a port and a host. Anything else, such as the path of a Unix socket, is refused. */
  override connect(...args: unknown[]): this {
    const [port, host] = args;
    const isAddress = typeof port === 'number' && typeof host === 'string';
    if (!isAddress || isRefused({ host }, this.#guard)) {
      process.nextTick(() => this.destroy(this.#guard.refused()));
      return this;
    }
    return super.connect({ port, host, lookup: checkedLookup(this.#guard) });
  }
}
