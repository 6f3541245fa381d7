import { operations } from '@oriel/contract';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { siteOf } from '../../platform/http/attempt-limit.ts';
import { pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { findPerson } from '../users/index.ts';
import type { Console } from './console.ts';
import { prepareOwnPassword } from './own-password.ts';
import { oauthTokens, tokens } from './replies.ts';
import { type Sessions, signOut } from './sessions.ts';
import type { SignIn } from './sign-in.ts';
import * as store from './store.ts';

export function sessionRoutes(
  { essential, cursors }: Pick<Platform, 'essential' | 'cursors'>,
  { signIn, sessions, console }: { signIn: SignIn; sessions: Sessions; console: Console },
) {
  return [
    handle(operations.login, async ({ origin }, { body }) => {
      const proven = await signIn.prove(nameIn(body), body.password, origin);
      const issued = await essential
        .as(siteOf(origin.ip))
        .transaction((tx) => sessions.beginWithTokens(tx, proven, origin));
      return tokens(found(issued, 'sign_in_failed'));
    }),

    handle(operations.refreshTokens, async ({ origin }, { body }) => {
      if ('refreshToken' in body)
        return tokens(await sessions.refresh(body.refreshToken, body.clientId, origin));
      if ((body.grant_type ?? 'refresh_token') !== 'refresh_token')
        throw new ApiError('unsupported_grant_type', {
          message: 'This address takes the `grant_type` `refresh_token`.',
        });
      return oauthTokens(await sessions.refresh(body.refresh_token, body.client_id, origin));
    }),

    handle(operations.logout, ({ actor, change, sendHeaders }, { body }) =>
      change(async (tx) => {
        const changes = await signOut(tx, actor, body);
        const isOfBrowser = changes.some(({ before }) => (before as store.SessionRow).kind === 'console');
        sendHeaders(isOfBrowser ? { 'set-cookie': console.cookie.clear() } : {});
        return { reply: undefined, changes };
      }),
    ),

    handle(operations.listMySessions, ({ actor, db }, { query }) =>
      pageById(cursors, 'own sessions by id', query, async (page) =>
        (await store.listSessions(db, actor.userId, page)).map((session) => ({
          ...session,
          isCurrent: session.id === actor.sessionId,
        })),
      ),
    ),

    handle(operations.endMySession, ({ actor, change }, { params }) =>
      change(async (tx) => {
        const [ended] = await signOut(tx, { userId: actor.userId, sessionId: params.id });
        return { reply: undefined, changes: found(ended, 'session_not_found') };
      }),
    ),

    handle(operations.listUserSessions, async ({ db }, { params, query }) => {
      const { id } = await findPerson(db, params.id);
      return pageById(cursors, `sessions of user ${id} by id`, query, (page) =>
        store.listSessions(db, id, page),
      );
    }),

    handle(operations.endUserSession, ({ change }, { params }) =>
      change(async (tx) => {
        const { id } = await findPerson(tx, params.id);
        const [ended] = await signOut(tx, { userId: id, sessionId: params.sessionId });
        return { reply: undefined, changes: found(ended, 'session_not_found') };
      }),
    ),

    handle(operations.endUserSessions, ({ change }, { params }) =>
      change(async (tx) => {
        const { id } = await findPerson(tx, params.id);
        const changes = await signOut(tx, { userId: id, sessionId: null }, { everywhere: true });
        return { reply: undefined, changes };
      }),
    ),

    handle(operations.changeMyPassword, async ({ actor, db, origin, change, sendHeaders }, { body }) => {
      const update = await prepareOwnPassword(db, signIn, actor.userId, body, origin);
      return change(async (tx) => {
        const { headers, result } = await console.renew(tx, actor, origin, () => update(tx));
        sendHeaders(headers);
        return { reply: undefined, changes: result };
      });
    }),
  ];
}

function nameIn({ email, username }: { email?: string | null; username?: string | null }): string {
  if ((email == null) === (username == null)) throw invalid('email', 'give either `email` or `username`');
  return (email ?? username)!;
}
