/** A GitHub App of the operator: each installation of it on GitHub gives this server a connection without a token. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import { asFields, ask, asList, DEFAULT_URLS, idOf, PAGE } from './hosts.ts';

export interface GitHubAppSettings {
  id: string;
  /** The name in the addresses of the app on GitHub. */
  slug: string;
  /** The private key, in PEM. */
  privateKey: string;
  /** The address of a GitHub Enterprise Server, without a slash at its end. */
  url?: string | undefined;
}

export interface AppInstallation {
  id: number;
  login: string;
}

export interface GitHubApp {
  /** The address of GitHub. */
  url: string;
  /** The page where people install the app. */
  linkUrl: string;
  /** The page where people change what the app may reach. */
  settingsUrl: string;
  /** Throws a `RemoteError`. */
  listInstallations(): Promise<AppInstallation[]>;
  /** A token for the API and for git, which ends within an hour. Throws a `RemoteError`. */
  tokenFor(appInstallationId: number): Promise<string>;
}

/** GitHub takes at most ten minutes. Its clock may differ from ours. */
const JWT_SECONDS = 540;
const CLOCK_SECONDS = 60;
/** A token is not used for this long before its end, because work with it takes time. */
const SPARE_MS = 10 * 60_000;
const INSTALLATIONS_MAX = 100;

export const isPrivateKey = (pem: string): boolean => {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
};

export function createGitHubApp(outbound: Outbound, settings: GitHubAppSettings): GitHubApp {
  const url = settings.url ?? DEFAULT_URLS.github!;
  const key: KeyObject = createPrivateKey(settings.privateKey);
  const tokens = new LRUCache<number, string>({
    max: INSTALLATIONS_MAX,
    ttl: SPARE_MS,
    fetchMethod: async (id, _stale, { options }) => {
      const { token, endsInMs } = await createToken(id);
      options.ttl = Math.max(1, endsInMs - SPARE_MS);
      return token;
    },
  });

  async function asApp(path: string, body?: object): Promise<unknown> {
    const now = Math.floor(Date.now() / 1000);
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(settings.id)
      .setIssuedAt(now - CLOCK_SECONDS)
      .setExpirationTime(now + JWT_SECONDS)
      .sign(key);
    return ask(outbound, { kind: 'github', url, username: null, token }, path, body);
  }

  async function createToken(id: number): Promise<{ token: string; endsInMs: number }> {
    const { token, expires_at } = asFields(await asApp(`/app/installations/${id}/access_tokens`, {}));
    const endsInMs = Date.parse(String(expires_at)) - Date.now();
    if (typeof token !== 'string' || Number.isNaN(endsInMs))
      throw new RemoteError('failed', 'GitHub did not answer with a token for the installation of the app.');
    return { token, endsInMs };
  }

  return {
    url,
    linkUrl: `${url}/apps/${settings.slug}/installations/new`,
    settingsUrl: `${url}/settings/installations`,
    async listInstallations() {
      return asList(await asApp(`/app/installations?per_page=${PAGE}`))
        .map(({ id, account }) => ({ id: idOf(id), login: String(asFields(account).login).slice(0, 255) }))
        .filter(({ id }) => id > 0)
        .slice(0, INSTALLATIONS_MAX);
    },
    tokenFor: (id) => tokens.forceFetch(id),
  };
}
