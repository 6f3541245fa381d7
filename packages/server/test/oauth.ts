/** People who connect to a service: a real provider, an integration with it, and browsers without a screen. */
import type { OrielClient } from '@oriel/client';
import { createBox } from '../src/platform/secrets/box.ts';
import { createKeyring } from '../src/platform/secrets/keyring.ts';
import { type Browsing, browse } from './browsing.ts';
import { createSignable, logIn, PASSWORD, type Signable } from './sign-in.ts';
import { createBrowser } from './sign-in-provider/browser.ts';
import { CLIENT_ID, CLIENT_SECRET, type SignInProvider } from './sign-in-provider/index.ts';
import { newAccount } from './sign-in-provider/visits.ts';
import { SECRET_KEY, unique, type World } from './world.ts';

type NewIntegration = Parameters<OrielClient['createOAuthIntegration']>[0]['body'];

export const integrationOf = (
  { url }: Pick<World, 'url'>,
  issuer: string,
  more: Partial<NewIntegration> = {},
): NewIntegration => ({
  name: unique('integration'),
  type: 'generic',
  authUrl: `${issuer}/auth`,
  tokenUrl: `${issuer}/token`,
  redirectUri: `${url}/oauth/callback`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  scopes: ['openid', 'offline_access'],
  config: {
    revocationUrl: `${issuer}/token/revocation`,
    issuer,
    authorizationParameters: { prompt: 'consent' },
  },
  ...more,
});

export interface ConnectingUser extends Signable {
  client: OrielClient;
  browser: Browsing;
}

/** A role that lets people connect. */
export async function connectingRole({ admin }: World, ...more: ('DeploymentRead' | 'AIBIView')[]) {
  const name = unique('connecting');
  await admin.createRole({ body: { name, actions: ['OAuthIntegrationsIssueTokens', ...more] } });
  return name;
}

/** A person who may connect, signed in by browser and by program. */
export async function connectingPerson(world: World, roles: string[]): Promise<ConnectingUser> {
  const person = await createSignable(world, { roles });
  const browser = browse(world);
  await browser.post('/sign-in', { username: person.email, password: PASSWORD });
  return { ...person, browser, client: (await logIn(world, person)).client };
}

/** Allows the access at the provider, and returns the path of the callback, which is not opened yet. */
export async function allow(
  { url }: World,
  provider: SignInProvider,
  authorizationUrl: string,
  account = newAccount(),
): Promise<string> {
  await provider.expect(account);
  const { address } = await createBrowser(provider.issuer).follow(authorizationUrl, {
    end: `${url}/oauth/callback`,
  });
  return address.slice(url.length);
}

/** Connects as a person does, and returns the reply of the callback. */
export async function connect(
  world: World,
  provider: SignInProvider,
  person: ConnectingUser,
  integrationId: number,
) {
  const { authorizationUrl } = await person.client.initiateOAuthFlow({ integrationId });
  return person.browser.get(await allow(world, provider, authorizationUrl));
}

/** Makes the access tokens of a person expire a moment ago. They can still be renewed. */
export const endAccess = ({ server }: World, userId: number) =>
  server.db.pool.query(
    `update oauth_tokens set access_expires_at = now() - interval '1 second', updated_at = now() - interval '1 hour'
     where user_id = $1`,
    [userId],
  );

/** The tokens of a person, as the database has them. */
export async function storedTokens({ server }: World, userId: number) {
  const { rows } = await server.db.pool.query('select * from oauth_tokens where user_id = $1 order by id', [
    userId,
  ]);
  const open = (column: string, row: Record<string, unknown>) =>
    row[column] === null
      ? null
      : createBox(
          { table: 'oauth_tokens', column, keyColumn: 'bound_to', holds: '' },
          createKeyring([SECRET_KEY]),
        )
          .open(String(row.bound_to), row[column] as Buffer)
          .toString();
  return rows.map((row) => ({
    row,
    accessToken: open('access_token', row),
    refreshToken: open('refresh_token', row),
  }));
}

/** Whether the provider takes the token. */
export async function isActive({ issuer }: SignInProvider, token: string): Promise<boolean> {
  const basic = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64');
  const response = await fetch(`${issuer}/token/introspection`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ token }),
  });
  return ((await response.json()) as { active: boolean }).active;
}
