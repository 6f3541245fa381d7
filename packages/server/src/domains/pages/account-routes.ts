/** The page of a person who is signed in. */
import { operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import { may } from '../../platform/auth/access.ts';
import type { SignedIn } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import type { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import {
  listSessions,
  type PeopleSessions,
  prepareOwnPassword,
  SESSIONS_MAX,
  signOut,
} from '../sessions/index.ts';
import { findPerson, hasPassword } from '../users/index.ts';
import type { Connections } from './connection-routes.ts';
import { errorsOf, requireUsable } from './new-password.ts';
import { ACCOUNT_PATH, type Show } from './show.ts';
import { type Account, accountView, type LinkedIdentity } from './views/account.ts';
import { whyNot } from './views/sign-in.ts';

const NOTICES = {
  welcome: 'Your account is ready, and you are signed in.',
  'password-set': 'Your new password is set, and you are signed in.',
  'password-changed': 'Your password is changed. You are signed out everywhere else.',
  'session-ended': 'The session has ended.',
  'identity-removed': 'It does not sign you in any more. You are signed out everywhere else.',
  connected: 'You are connected.',
  disconnected: 'The connection has ended.',
};

/** Who the person is at sign-in providers. */
export interface LinkedIdentities {
  list(db: Queryable, userId: number): Promise<LinkedIdentity[]>;
  /** Ends all sessions of the person. Throws if they would have no way to sign in. */
  unlink(tx: Tx, userId: number, id: number): Promise<Change[]>;
}

interface Options {
  people: PeopleSessions;
  identities: LinkedIdentities;
  connections: Pick<Connections, 'list'>;
}

export function accountRoutes(show: Show, { people, identities, connections }: Options) {
  const { console, signIn } = people;

  async function accountOf(db: Database, actor: SignedIn): Promise<Account> {
    const { userId, sessionId } = actor;
    const mayConnect = may(actor, 'OAuthIntegrationsIssueTokens');
    const person = await findPerson(db, userId);
    const sessions = await listSessions(db, userId, { afterId: 0, limit: SESSIONS_MAX });
    return {
      person,
      sessions: sessions.reverse(),
      identities: await identities.list(db, userId),
      connections: mayConnect ? await connections.list(db, userId) : [],
      hasPassword: await hasPassword(db, userId),
      sessionId,
      csrf: console.csrf.tokenOf(sessionId),
    };
  }

  return [
    handle(operations.accountPage, async ({ actor, db, sendHeaders }, { query }) => {
      const account = await accountOf(db, actor);
      return show.page(
        sendHeaders,
        accountView({ ...account, notice: query.notice && NOTICES[query.notice] }),
      );
    }),

    handle(operations.changePasswordByForm, async (call, { body }) => {
      const { actor, db, origin, change, sendHeaders } = call;
      const location = `${ACCOUNT_PATH}?notice=password-changed`;
      const store = async () => {
        requireUsable(body);
        const update = await prepareOwnPassword(db, signIn, actor.userId, body, origin);
        return change(async (tx) => {
          const renewed = await console.renew(tx, actor, origin, () => update(tx));
          sendHeaders({ 'set-cookie': renewed.setCookie });
          return { reply: { location }, changes: renewed.result };
        });
      };
      return store().catch(async (error) => {
        const account = await accountOf(db, actor);
        return show.failure((failure) => viewOfFailure(account, failure))(error);
      });
    }),

    handle(operations.unlinkIdentityByForm, ({ actor, origin, change, sendHeaders }, { body }) =>
      change(async (tx) => {
        const unlink = () => identities.unlink(tx, actor.userId, body.id);
        const renewed = await console.renew(tx, actor, origin, unlink);
        sendHeaders({ 'set-cookie': renewed.setCookie });
        return {
          reply: { location: `${ACCOUNT_PATH}?notice=identity-removed` },
          changes: renewed.result,
        };
      }),
    ),

    handle(operations.endSessionByForm, ({ actor: { userId }, change }, { body }) =>
      change(async (tx) => ({
        reply: { location: `${ACCOUNT_PATH}?notice=session-ended` },
        changes: await signOut(tx, { userId, sessionId: body.id }),
      })),
    ),
  ];
}

function viewOfFailure(account: Account, failure: ApiError) {
  const { code, statusCode, message } = failure;
  const errors = code === 'wrong_password' ? { currentPassword: message } : errorsOf(failure);
  if (errors) return accountView({ ...account, errors });
  if (code === 'no_password') return accountView({ ...account, failure: message });
  return [429, 503].includes(statusCode) ? accountView({ ...account, failure: whyNot(failure) }) : undefined;
}
