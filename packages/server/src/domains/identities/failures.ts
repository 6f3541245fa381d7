/** Says why a sign-in with the provider failed: to the operator in the server's log, and to admins in the audit log. */
import type { RefusalAudit } from '../../platform/audit/events.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { SignInOrigin } from '../sessions/index.ts';
import { findIdentity, type IdentityKey } from './store.ts';
import { SignInError } from './trouble.ts';

export interface Failures {
  /** For the `catch` of a promise: writes the reason to the server's log, and passes the error on. */
  explain(origin: SignInOrigin): (error: unknown) => never;
  /**
   * Also adds to the audit log, unless the provider or this server does not work. `proven` is the identity, if the
   * provider has confirmed one.
   */
  record(origin: SignInOrigin, error: unknown, proven: IdentityKey | undefined): Promise<void>;
}

interface Options {
  db: Database;
  attempts: RefusalAudit;
  log: Logger;
}

export function createFailures({ db, attempts, log }: Options): Failures {
  /** The line has the number that the person sees on the page. */
  function write({ operation, ip, requestId }: SignInOrigin, error: ApiError, known: object = {}) {
    const why =
      error.cause instanceof SignInError
        ? error.cause.why
        : error.code === 'sign_in_not_begun' && { check: 'ORIEL_PUBLIC_URL, if many people see it' };
    log.warn(
      { requestId, operation, ip, code: error.code, ...why, ...known },
      'a sign-in with the provider failed',
    );
  }

  return {
    explain: (origin) => (error) => {
      if (error instanceof ApiError) write(origin, error);
      throw error;
    },
    async record(origin, error, proven) {
      if (!(error instanceof ApiError)) return;
      const known = proven && { issuer: proven.issuer, subject: proven.subject };
      const user = proven && (await findIdentity(db, proven).catch(() => undefined));
      write(origin, error, { ...known, userId: user?.userId });
      if (error.statusCode >= 500) return;
      const { operation, ip, requestId } = origin;
      attempts.record({
        operation,
        resourceType: 'failedSignIn',
        // Each person is counted alone, so that an admin sees whom to invite.
        resourceId: user ? String(user.userId) : known ? `${known.issuer} ${known.subject}` : 'unknown',
        userId: null,
        ip,
        requestId,
        details: { code: error.code, ...known },
      });
    },
  };
}
