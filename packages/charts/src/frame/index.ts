/** What pages in frames of other products share: the messages with their host, and what hosts may ask for. */
export { type Action, connectHost, findOrigin, type Host, isAmongOwnPages } from './host.ts';
export { firstKnown, knownZone, warnOf } from './host-requests.ts';
