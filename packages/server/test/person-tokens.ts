/**
 * An OAuth service whose access tokens are the passwords of people in a PostgreSQL: each token that it gives becomes the
 * password of the person's role at once, and the one before stops working. Refresh tokens work once.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SourceDatabase } from './source-database.ts';

export interface PersonTokens {
  issuer: string;
  /** Who allows the access next. The role must exist. */
  next(role: string): void;
  /** How long access tokens are valid from now on. */
  expiresIn: number;
  /** Whether new tokens become passwords. */
  isInForce: boolean;
  /** The next answer waits until it is released. */
  hold(): { begun: Promise<void>; release(): void };
  /** How often tokens were renewed. */
  readonly renewals: number;
  stop(): Promise<void>;
}

export async function startPersonTokens(database: SourceDatabase): Promise<PersonTokens> {
  const codes = new Map<string, string>();
  const refreshTokens = new Map<string, string>();
  let role = '';
  let holding: { begin(): void; released: Promise<void> } | undefined;

  async function give(to: string) {
    const access_token = randomBytes(24).toString('base64url');
    const refresh_token = randomBytes(24).toString('base64url');
    refreshTokens.set(refresh_token, to);
    if (state.isInForce) await database.administer(`alter role ${to} password '${access_token}'`);
    return { access_token, refresh_token, token_type: 'Bearer', expires_in: state.expiresIn };
  }

  async function exchange(form: URLSearchParams) {
    const isRefresh = form.get('grant_type') === 'refresh_token';
    const [known, key] = isRefresh ? [refreshTokens, form.get('refresh_token')!] : [codes, form.get('code')!];
    const to = known.get(key);
    if (to === undefined) return undefined;
    known.delete(key);
    if (isRefresh) state.renewals++;
    return give(to);
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    if (url.pathname === '/auth') {
      const code = randomBytes(16).toString('hex');
      codes.set(code, role);
      const back = new URL(url.searchParams.get('redirect_uri')!);
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state')!);
      return void response.writeHead(302, { location: back.href }).end();
    }
    const form = await formOf(request);
    const held = holding;
    holding = undefined;
    held?.begin();
    await held?.released;
    const tokens = await exchange(form);
    response.writeHead(tokens ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(tokens ?? { error: 'invalid_grant' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next(wanted: string) {
      role = wanted;
    },
    expiresIn: 3600,
    isInForce: true,
    renewals: 0,
    hold() {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const begun = new Promise<void>((resolve) => {
        holding = { begin: resolve, released };
      });
      return { begun, release };
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return state;
}

async function formOf(request: IncomingMessage) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}
