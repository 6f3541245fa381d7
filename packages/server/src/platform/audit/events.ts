/** Audit entries of what changes nothing: sign-ins, and attempts that were refused. */
import type { Database, Queryable } from '../db/database.ts';
import { siteOf } from '../http/attempt-limit.ts';
import type { Logger } from '../log.ts';
import { withinLimits } from './differences.ts';
import { maskText } from './mask.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

export interface AuditEvent {
  /** The id of the operation. */
  operation: string;
  /** What happened. It is none of the nouns of changes, so that a refused deletion does not look like a deletion. */
  resourceType: 'signIn' | 'failedSignIn' | 'forgottenPassword' | 'refusal';
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
 * that failed use `RefusalAudit`, because nothing else limits how many there are.
 */
export const recordEvent = (db: Queryable, event: AuditEvent) => insertAuditEntries(db, [toEntry(event)]);

/** Records attempts that failed. No number of them can fill the log. */
export interface RefusalAudit {
  /** Returns at once. If the entry cannot be written, the server's own log says so. */
  record(event: AuditEvent): void;
  /** Writes what was only counted so far. */
  stop(): Promise<void>;
}

interface CountedEvent {
  event: AuditEvent;
  repeats: number;
}

const PER_MS = 60_000;
const COUNTS_MAX = 100;
const COUNTS_OF_CALLER_MAX = 20;
const KNOWN_CALLERS_MAX = 1000;
const ATTACKED_USERS_MAX = 1000;
const COUNTED_USERS_MAX = 5000;
const CALLERS_OF_USER_MAX = 20;
const OTHERS = 'others';

/**
 * The first attempt of a caller at a resource is written at once. Attempts that follow within the minute are counted,
 * and the last one is written at its end, with the number of `repeats`. Beyond the limits, all resources of one caller
 * are counted together, and then all callers. Known callers keep an entry of their own for longer, and so do users who
 * are attacked by failed sign-ins: thousands more of them are named at the end of the minute.
 */
export function createRefusalAudit(
  db: Database,
  log: Logger,
  {
    perMs = PER_MS,
    countsMax = COUNTS_MAX,
    countsOfCallerMax = COUNTS_OF_CALLER_MAX,
    knownCallersMax = KNOWN_CALLERS_MAX,
    attackedUsersMax = ATTACKED_USERS_MAX,
    countedUsersMax = COUNTED_USERS_MAX,
    callersOfUserMax = CALLERS_OF_USER_MAX,
  } = {},
): RefusalAudit {
  let counts = new Map<string, CountedEvent>();
  /** How many counts each group has. */
  let sizes = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  async function insert(entries: AuditEntry[]) {
    try {
      await insertAuditEntries(db, entries);
    } catch (err) {
      // One entry that cannot be stored does not take the others with it.
      if (isUnfit(err) && entries.length > 1) for (const entry of entries) await insert([entry]);
      else
        log.error({ err, entries: entries.length }, 'refused attempts could not be written to the audit log');
    }
  }

  /** One at a time, so that many attempts at once take one connection. */
  const write = (entries: AuditEntry[]) => {
    writing = writing.then(() => insert(entries));
  };

  const sizeOf = (group: string) => sizes.get(group) ?? 0;

  function add(key: string, groups: string[], counted: CountedEvent) {
    counts.set(key, counted);
    for (const group of groups) sizes.set(group, sizeOf(group) + 1);
  }

  function begin(key: string, groups: string[], event: AuditEvent) {
    add(key, groups, { event, repeats: 0 });
    write([toEntry(event)]);
  }

  function count(key: string, event: AuditEvent, groups: string[] = []) {
    const known = counts.get(key);
    if (known) counts.set(key, { event, repeats: known.repeats + 1 });
    else add(key, groups, { event, repeats: 1 });
  }

  /** Names the user in the entries, however many callers there are: who is attacked matters most. */
  function recordAtUser(event: AuditEvent) {
    const user = `user ${event.resourceId} `;
    const own = `${user}${callerOf(event)} ${event.operation}`;
    const rest = `${user}${OTHERS}`;
    const callers = sizeOf(user);
    if (counts.has(own)) count(own, event);
    else if (!callers && sizeOf('users') >= attackedUsersMax) {
      const isNamed = counts.has(rest) || sizeOf('counted users') < countedUsersMax;
      if (isNamed) count(rest, withSharedCaller(event, counts.get(rest)?.event), ['counted users']);
      else count(`users ${OTHERS}`, withoutCaller(event));
    } else if (!callers) begin(own, [user, 'users'], event);
    else if (callers < callersOfUserMax && sizeOf('further callers') < countsMax) {
      begin(own, [user, 'further callers'], event);
    } else count(rest, withSharedCaller(event, counts.get(rest)?.event));
  }

  function recordOfCaller(event: AuditEvent) {
    // Counts each type of event, and known and unknown callers, separately: one kind cannot hide the other.
    const space = `${event.resourceType} ${isKnown(event) ? 'known' : 'unknown'} `;
    const caller = `${space}${callerOf(event)} `;
    const own = `${caller}${event.operation} ${event.resourceId}`;
    const rest = `${caller}${OTHERS}`;
    const counted = sizeOf(space);
    if (counts.has(own)) count(own, event);
    else if (counts.has(rest)) count(rest, withoutResource(event));
    else if (counted >= (isKnown(event) ? knownCallersMax : countsMax)) {
      count(`${space}${OTHERS}`, withoutCaller(event));
    } else if (counted >= countsMax || sizeOf(caller) >= countsOfCallerMax) {
      count(rest, withoutResource(event), [space, caller]);
    } else begin(own, [space, caller], event);
  }

  function flush() {
    const repeated = [...counts.values()].filter(({ repeats }) => repeats > 0);
    counts = new Map();
    sizes = new Map();
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
      if (isAtUser(event)) recordAtUser(event);
      else recordOfCaller(event);
    },
    async stop() {
      flush();
      await writing;
    },
  };
}

/** PostgreSQL's errors of class 22: a value has not the form of its column. */
const isUnfit = (error: unknown) => String((error as { code?: unknown }).code).startsWith('22');

const isKnown = ({ userId }: AuditEvent) => userId !== null;

/** A failed sign-in as a user who exists. */
const isAtUser = ({ resourceType, resourceId }: AuditEvent) =>
  resourceType === 'failedSignIn' && /^\d+$/.test(resourceId);

/** A whole IPv6 site is one caller: otherwise one with 21 networks could hide where an attack comes from. */
const callerOf = ({ userId, apiKeyId, ip }: AuditEvent) =>
  userId === null ? `address ${ip && siteOf(ip)}` : `user ${userId} key ${apiKeyId ?? null}`;

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

/** For attempts that are counted together: names the caller only if all of them are of the same one. */
const withSharedCaller = (event: AuditEvent, before: AuditEvent | undefined): AuditEvent =>
  before && callerOf(before) !== callerOf(event)
    ? { ...withoutCaller(event), resourceId: event.resourceId }
    : event;
