/** One connection that receives NOTIFY, detects when it is broken, and reconnects by itself. */
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../log.ts';
import { type ConnectionSettings, openClient } from './connection.ts';

type Handler = (payload?: string) => void;

export interface Listener {
  /** False from the moment that a notification could have been missed until we listen again. */
  readonly isListening: boolean;
  /**
   * Calls the handler for each notification with its payload, and once without one whenever notifications may have been
   * missed. Every channel must be named before `start`.
   */
  on(channel: string, handler: Handler): void;
  /** Calls the handlers at once, for a notification that this server itself has caused and that is still on its way. */
  deliver(channel: string, payload: string): void;
  /** Connects and listens. Rejects if the first connection cannot be made. */
  start(): Promise<void>;
  end(): Promise<void>;
}

/** Together they limit how long a dead connection can stay undetected: well below a second. */
const HEARTBEAT_MS = 350;
const ANSWER_WITHIN_MS = 350;
/** How often the answer is checked in that time; see `silence`. */
const LOOKS = 5;
const RECONNECT_MS = 250;

export function createListener(connection: ConnectionSettings, log: Logger): Listener {
  const handlers = new Map<string, Handler[]>();
  const stopping = new AbortController();
  let client: pg.Client | undefined;
  let isListening = false;
  let loop: Promise<void> | undefined;

  const call = (list: Handler[] = [], payload?: string) => {
    for (const handler of list) handler(payload);
  };
  const callAll = () => call([...handlers.values()].flat());

  async function connect(): Promise<pg.Client> {
    const fresh = await openClient(connection);
    fresh.on('notification', ({ channel, payload = '' }) => call(handlers.get(channel), payload));
    await fresh.query(
      [...handlers.keys()].map((channel) => `listen ${pg.escapeIdentifier(channel)}`).join(';'),
    );
    return fresh;
  }

  /** Resolves when the connection has stopped answering. */
  async function watch(current: pg.Client): Promise<void> {
    while (!stopping.signal.aborted) {
      let isOver = false;
      const beat = current.query('select 1').then(
        () => 'alive',
        () => 'broken',
      );
      const heard = await Promise.race([beat, silence(() => isOver || stopping.signal.aborted)]);
      isOver = true;
      if (heard !== 'alive') return;
      await sleep(HEARTBEAT_MS, undefined, { signal: stopping.signal });
    }
  }

  async function keepListening() {
    while (!stopping.signal.aborted) {
      try {
        client ??= await connect();
        isListening = true;
        callAll();
        await watch(client);
      } catch {
        // The database cannot be reached, or we are stopping. The loop decides.
      }
      if (stopping.signal.aborted) return;
      if (isListening)
        log.warn('the connection that brings notifications broke; verifying credentials in the database');
      isListening = false;
      callAll();
      discard(client);
      client = undefined;
      await sleep(RECONNECT_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  return {
    get isListening() {
      return isListening;
    },
    on(channel, handler) {
      const list = handlers.get(channel) ?? [];
      if (loop && !handlers.has(channel)) throw new Error(`nobody listens on ${channel}`);
      handlers.set(channel, [...list, handler]);
    },
    deliver: (channel, payload) => call(handlers.get(channel), payload),
    async start() {
      client = await connect();
      loop = keepListening();
    },
    async end() {
      stopping.abort();
      isListening = false;
      await loop;
      discard(client);
    },
  };
}

/**
 * Resolves when the time for an answer is over. If this process is blocked by one long piece of work, that time counts
 * as one check at most, because the answer may have arrived but not been read.
 */
async function silence(isOver: () => boolean): Promise<'silent'> {
  for (let look = 0; look < LOOKS && !isOver(); look++) {
    await sleep(ANSWER_WITHIN_MS / LOOKS);
    await afterReading();
  }
  return 'silent';
}

/** Ends a connection that may hang, without waiting for an answer. */
function discard(client: pg.Client | undefined) {
  client?.end().catch(() => {});
  (client as unknown as { connection?: { stream?: { destroy(): void } } })?.connection?.stream?.destroy();
}
