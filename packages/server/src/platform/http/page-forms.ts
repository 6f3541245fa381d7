/**
 * A form of a page must come from one of our pages. If it belongs to a session, it must also hold the token of the
 * session: the browser sends the cookie with forms of other sites too.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { bodyKindOf, isPageForm, type Operation } from '@oriel/contract';
import type { TObject } from 'typebox';
import type { Actor, SessionHolder } from '../auth/actor.ts';
import { CSRF_FIELD, type Csrf } from '../auth/csrf.ts';

export interface FormGuard {
  /** Both throw a 403. */
  requireOrigin(headers: IncomingHttpHeaders): void;
  requireToken(actor: Actor, body: unknown): void;
}

/** Returns undefined for an operation that is not a form of a page. */
export function guardForm(op: Operation, csrf: Csrf): FormGuard | undefined {
  if (!isPageForm(op)) return undefined;
  const isOfSession = op.auth === 'console';
  if (isOfSession && !(CSRF_FIELD in formProperties(op))) {
    throw new Error(`${op.id} needs the field ${CSRF_FIELD}`);
  }
  return {
    requireOrigin: csrf.requireOrigin,
    requireToken(actor, body) {
      if (!isOfSession) return;
      const given = (body as Record<string, unknown> | undefined)?.[CSRF_FIELD];
      csrf.requireToken((actor as SessionHolder).sessionId, given);
    },
  };
}

function formProperties(op: Operation): object {
  const body = bodyKindOf(op);
  return (body && 'schema' in body && (body.schema as Partial<TObject>).properties) || {};
}
