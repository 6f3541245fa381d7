/** A socket that connects only to addresses that outgoing requests may reach, also if a name leads to them. */
import { isIP, Socket } from 'node:net';
import { checkedLookup, type Rules } from '../../platform/outbound/exchange.ts';
import { refusedAddress } from '../process/refused-address.ts';

export class CheckedSocket extends Socket {
  readonly #rules: Rules;

  constructor(rules: Rules) {
    super();
    this.#rules = rules;
  }

  /** The driver gives a port and a host, or the path of a Unix socket. */
  override connect(...args: unknown[]): this {
    const [port, host] = args;
    const isAddress = typeof port === 'number' && typeof host === 'string';
    if (!isAddress || (isIP(host) && !this.#rules.isAllowed(host))) {
      process.nextTick(() => this.destroy(refusedAddress()));
      return this;
    }
    return super.connect({ port, host, lookup: checkedLookup(this.#rules, refusedAddress) });
  }
}
