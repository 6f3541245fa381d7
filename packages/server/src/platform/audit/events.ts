/** Audit entries of what changes nothing: sign-ins, and attempts that were refused. */
import type { Database, Queryable } from '../db/database.ts';
import { addressGroup } from '../http/attempt-limit.ts';
import type { Logger } from '../log.ts';
import { withinLimits } from './differences.ts';
import { maskText } from './mask.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

export interface AuditEvent {
  /** The id of the operation. */
  operation: string;
  /** What happened. It is none of the nouns of changes, so that a refused deletion does not look like a deletion. */
  resourceType: 'signIn' | 'failedSignIn' | 'refusal';
  /** What it was about: the id of the user, or the path of the request. It must not hold what an unknown caller typed. */
  resourceId: string;
  deploymentId?: number | null;
  embedTenantName?: string | null;
  userId: number | null;
  apiKeyId?: number | null;
  ip: string | null;
  requestId: string | null;
  /** Shown as `after`. */
  details?: object;
}

const RESOURCE_ID_MAX = 300;

const toEntry = (event: AuditEvent): AuditEntry => ({
  operation: event.operation,
  resourceType: event.resourceType,
  resourceId: maskText(event.resourceId).slice(0, RESOURCE_ID_MAX),
  deploymentId: event.deploymentId ?? null,
  embedTenantName: event.embedTenantName ?? null,
  userId: event.userId,
  apiKeyId: event.apiKeyId ?? null,
  ip: event.ip,
  requestId: event.requestId,
  before: null,
  after: withinLimits(event.details ?? null),
});

/**
 * Writes the entry of an event that succeeded, such as a sign-in, in the transaction that made it succeed. For attempts
 * that failed use `Attempts`, because nothing else limits how many there are.
 */
export const recordEvent = (db: Queryable, event: AuditEvent) => insertAuditEntries(db, [toEntry(event)]);

/** Records attempts that failed. No number of them can fill the log. */
export interface Attempts {
  /** Returns at once. If the entry can not be written, the server's own log says so. */
  record(event: AuditEvent): void;
  /** Writes what was only counted so far. */
  stop(): Promise<void>;
}

interface Counted {
  event: AuditEvent;
  repeats: number;
}

const PER_MS = 60_000;
const COUNTS_MAX = 100;
const COUNTS_OF_CALLER_MAX = 20;
const OTHERS = 'others';

/**
 * The first attempt of a caller at a resource is written at once. Attempts that follow within the minute are counted,
 * and the last one is written at its end, with the number of `repeats`. Beyond the limit, all resources of one caller
 * are counted together, and then all callers.
 */
export function createAttempts(
  db: Database,
  log: Logger,
  { perMs = PER_MS, countsMax = COUNTS_MAX, countsOfCallerMax = COUNTS_OF_CALLER_MAX } = {},
): Attempts {
  let counts = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  /** One at a time, so that many attempts at once take one connection. */
  const write = (entries: AuditEntry[]) => {
    writing = writing
      .then(() => insertAuditEntries(db, entries))
      .catch((err) =>
        log.error({ err, entries: entries.length }, 'refused attempts could not be written to the audit log'),
      );
  };

  /** Counted for each type of event, so that failed sign-ins of many addresses do not hide refusals. */
  const isFull = (type: string) => countOf(`${type} `) >= countsMax;
  const countOf = (start: string) => [...counts.keys()].filter((key) => key.startsWith(start)).length;

  function count(key: string, event: AuditEvent) {
    counts.set(key, { event, repeats: (counts.get(key)?.repeats ?? 0) + 1 });
  }

  function flush() {
    const repeated = [...counts.values()].filter(({ repeats }) => repeats > 0);
    counts = new Map();
    clearTimeout(timer);
    timer = undefined;
    const entries = repeated.map(({ event, repeats }) =>
      toEntry({ ...event, details: { ...event.details, repeats } }),
    );
    if (entries.length) write(entries);
  }

  return {
    record(event) {
      timer ??= setTimeout(flush, perMs).unref();
      const type = event.resourceType;
      const caller = `${type} ${callerOf(event)} `;
      const own = `${caller}${event.operation} ${event.resourceId}`;
      if (counts.has(own)) count(own, event);
      else if (isFull(type)) count(`${type} ${OTHERS}`, withoutCaller(event));
      else if (countOf(caller) >= countsOfCallerMax) count(`${caller}${OTHERS}`, withoutResource(event));
      else {
        counts.set(own, { event, repeats: 0 });
        write([toEntry(event)]);
      }
    },
    async stop() {
      flush();
      await writing;
    },
  };
}

const callerOf = ({ userId, apiKeyId, ip }: AuditEvent) =>
  userId === null ? `address ${ip && addressGroup(ip)}` : `user ${userId} key ${apiKeyId ?? null}`;

const withoutResource = (event: AuditEvent): AuditEvent => ({
  ...event,
  resourceId: OTHERS,
  deploymentId: null,
});

const withoutCaller = (event: AuditEvent): AuditEvent => ({
  ...withoutResource(event),
  embedTenantName: null,
  userId: null,
  apiKeyId: null,
  ip: null,
  requestId: null,
  details: {},
});
