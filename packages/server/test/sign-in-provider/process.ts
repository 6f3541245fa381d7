/** A real OpenID Connect provider, in a process of its own. The test that started it sends it orders. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import Provider from 'oidc-provider';

export interface Account {
  sub: string;
  email?: string | undefined;
  email_verified?: boolean | string;
  name?: string;
  groups?: unknown;
}

/** An answer in place of the provider's own. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** Spaces, after the headers. */
  bytes?: number;
  /** Accepts the request, and then says nothing, or ends the connection. */
  silence?: 'for ever' | 'closed';
}

export interface Client {
  id: string;
  secret: string;
  /** The public addresses of the servers that use it. */
  urls: string[];
  signingKey: object;
}

export type Order =
  | { client: Client }
  /** The person who signs in next. */
  | { account: Account }
  /** Answers at this path from now on. */
  | { path: string; answer: Answer }
  /** Answers as itself again. */
  | { reset: true };

const accounts = new Map<string, Account>();
const answers = new Map<string, Answer>();
let next: string;
let provider: Provider;
let serve: () => void;
/** Resolves when the provider knows the addresses of the servers. A server may call at its start, before that. */
const serving = new Promise<void>((resolve) => {
  serve = resolve;
});

function obey(order: Order) {
  if ('client' in order) {
    provider = createProvider(order.client);
    serve();
  }
  if ('account' in order) {
    accounts.set(order.account.sub, order.account);
    next = order.account.sub;
  }
  if ('path' in order) answers.set(order.path, order.answer);
  if ('reset' in order) answers.clear();
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url!, issuer);
  const answer = answers.get(pathname);
  if (answer) return send(response, answer);
  await serving;
  if (!pathname.startsWith('/interaction/')) return provider.callback()(request, response);
  // Instead of a form with a password.
  void provider.interactionFinished(request, response, { login: { accountId: next }, consent: {} });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function send(response: ServerResponse, { status = 200, headers, body, bytes = 0, silence }: Answer) {
  if (silence) return silence === 'closed' ? response.destroy() : undefined;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  if (!bytes) return response.end(body);
  const piece = Buffer.alloc(64 * 1024, ' ');
  const pieces = function* () {
    for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
  };
  pipeline(Readable.from(pieces()), response, () => {});
}

const createProvider = ({ id, secret, urls, signingKey }: Client) =>
  new Provider(issuer, {
    clients: [
      {
        client_id: id,
        client_secret: secret,
        redirect_uris: urls.flatMap((url) => [
          `${url}/sign-in/provider/callback`,
          `${url}/oauth/callback`,
          `${url}/oauth/callback/warehouse`,
        ]),
        grant_types: ['authorization_code', 'refresh_token'],
        post_logout_redirect_uris: urls.map((url) => `${url}/sign-in`),
      },
    ],
    jwks: { keys: [signingKey] },
    cookies: { keys: ['a key for the cookies of this test'] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified', 'groups'] },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      introspection: { enabled: true },
    },
    // A refresh token works once. Using it again ends everything that came of it.
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx: unknown, _client: unknown, code: { scopes: Set<string> }) =>
      code.scopes.has('offline_access'),
    ttl: { AccessToken: 3600 },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => accounts.get(accountId) }),
    async loadExistingGrant({ oidc }: { oidc: { provider: Provider; session: { accountId: string } } }) {
      const grant = new oidc.provider.Grant({ clientId: id, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid profile email offline_access');
      await grant.save();
      return grant;
    },
  });

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  obey(order);
  process.send!({ done: id });
});
// It ends with the test, however the test ends.
process.on('disconnect', () => process.exit());
process.send!({ issuer });
