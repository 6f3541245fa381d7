/** What the server gives to each domain, and what a domain provides. `app.ts` holds the list of domains. */
import type { RefusalAudit } from './audit/events.ts';
import type { CredentialKind } from './auth/credentials.ts';
import type { Csrf } from './auth/csrf.ts';
import type { Cleanup } from './cleanup.ts';
import type { Database } from './db/database.ts';
import type { Listener } from './db/listener.ts';
import type { NotifiedCache } from './db/notified-cache.ts';
import type { DemoStep } from './demo.ts';
import type { Metrics } from './http/metrics.ts';
import type { Cursors } from './http/pages.ts';
import type { Route } from './http/routes.ts';
import type { JobKind } from './jobs/jobs.ts';
import type { Schedule } from './jobs/schedules.ts';
import type { Logger } from './log.ts';
import type { Mail } from './mail/mail.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { Box, BoxedColumn } from './secrets/box.ts';
import type { Keys } from './secrets/keyring.ts';

export interface Platform {
  /**
   * Connections for content. A handler must use the `db` of its call instead, which shares connections fairly between
   * callers.
   */
  db: Database;
  /**
   * Connections for work that must succeed even if `db` is busy: credentials, minting, exchanging, readiness, metrics.
   */
  essential: Database;
  listener: Listener;
  /** For audit entries of attempts that failed, such as a sign-in with a wrong password. */
  attempts: RefusalAudit;
  cursors: Cursors;
  csrf: Csrf;
  log: Logger;
  metrics: Metrics;
  /** The address that others see, without a slash at its end. */
  publicUrl: string;
  /** Which process this is, for people who read the log of a deployment or the list of pods. */
  processName: string;
  /** The only way to send HTTP requests to other servers. */
  outbound: Outbound;
  /** Sends mail, if the settings say how. */
  mail: Mail | undefined;
  /**
   * Keys of 32 bytes for one purpose, derived from the installation's secret. There are several while the secret is being
   * replaced: the first one signs, all of them verify.
   */
  keysFor(purpose: string): Keys;
  /**
   * Seals and opens the values of a column. A module asks for its boxes when it is created, so that a replacement of the
   * secret finds every sealed column.
   */
  box(column: BoxedColumn): Box;
  /**
   * A cache of values from which notifications drop entries. `subjectsOf` returns the subjects that a value depends on,
   * as notifications name them, for example `user:12`.
   */
  createCache<Key extends string | number, Value>(
    subjectsOf: (key: Key, value: Value) => string[],
  ): NotifiedCache<Key, Value>;
}

/** Everything that a domain provides. */
export interface Module {
  routes?: Route[];
  /** Kinds of jobs that requests enqueue. Kinds of `schedules` need not be listed again. */
  jobs?: JobKind[];
  schedules?: Schedule[];
  /** Fills an empty installation. Steps run in the order of the list of modules. */
  demo?: DemoStep;
  /** Kinds of credentials whose tables the domain owns. They are tried in the order of the list of modules. */
  credentials?: CredentialKind[];
  /** How to remove its rows when the user, deployment, embed tenant or folder that they belong to is deleted. */
  cleanup?: Cleanup;
  /** Called when the server listens. */
  started?(): void;
  stop?(): Promise<void> | void;
}
