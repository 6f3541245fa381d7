/** Connections to git hosts. Their tokens are sealed, and only `open` reads them. */
import { randomUUID } from 'node:crypto';
import { gitHostLimits } from '@oriel/contract';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import { withHost } from './failures.ts';
import type { GitHubApp } from './github-app.ts';
import { DEFAULT_URLS, type Host } from './hosts.ts';
import { plainUrl } from './rules.ts';
import * as store from './store.ts';

export const GIT_TOKEN_COLUMN: BoxedColumn = {
  table: 'git_installations',
  column: 'token',
  keyColumn: 'token_id',
  holds: 'tokens of git hosts',
};

export interface NewInstallation {
  name: string;
  kind: Exclude<store.HostKind, 'github_app'>;
  url?: string | null | undefined;
  username?: string | null | undefined;
  token: string;
}

export interface ChangedInstallation {
  name?: string | undefined;
  /** Null for none. */
  username?: string | null | undefined;
  token?: string | undefined;
}

export interface Installations {
  create(tx: Tx, made: NewInstallation): Promise<store.InstallationRow>;
  /** What is not given stays. */
  update(
    tx: Tx,
    id: number,
    given: ChangedInstallation,
  ): Promise<{ before: store.InstallationRow; after: store.InstallationRow }>;
  /** Throws if there is no such connection, and a `RemoteError` if GitHub gives no token for its app. */
  open(db: Queryable, id: number): Promise<Host>;
  /** Writes down where the GitHub App is installed now, if there is one. If GitHub cannot be asked, nothing changes. */
  refresh(db: Database): Promise<void>;
}

export function createInstallations(
  { box: boxOf, log }: Pick<Platform, 'box' | 'log'>,
  { app, allowPrivate }: { app: GitHubApp | undefined; allowPrivate: boolean },
): Installations {
  const box = boxOf(GIT_TOKEN_COLUMN);
  return {
    async create(tx, { name, kind, url, username, token }) {
      await store.lockInstallations(tx);
      if ((await store.countInstallations(tx)) >= gitHostLimits.installations)
        throw new ApiError('too_many_git_installations');
      const tokenId = randomUUID();
      return store.insertInstallation(tx, {
        name,
        kind,
        url: hostUrl(kind, url, { allowPrivate }),
        username: username ?? null,
        tokenId,
        token: box.seal(tokenId, Buffer.from(token)),
      });
    },
    async update(tx, id, { name, username, token }) {
      const before = found(await store.lockInstallationToChange(tx, id), 'git_installation_not_found');
      if (before.appInstallationId !== null) throw new ApiError('git_installation_of_app');
      const tokenId = token === undefined ? before.tokenId : randomUUID();
      const after = await store.updateInstallation(tx, {
        id,
        name: name ?? before.name,
        username: username === undefined ? before.username : username,
        tokenId,
        token: token === undefined ? before.token : box.seal(tokenId, Buffer.from(token)),
      });
      if (token !== undefined) await store.forgetFailures(tx, id);
      return { before, after };
    },
    async open(db, id) {
      const row = found(await store.findInstallation(db, id), 'git_installation_not_found');
      const { kind, url, username, appInstallationId } = row;
      if (appInstallationId !== null) {
        if (!app) {
          throw new ApiError('git_host_refused', {
            message: 'This connection is one of a GitHub App, and the server has no GitHub App any more.',
          });
        }
        return { kind, url, username, token: await withHost(() => app.tokenFor(appInstallationId)) };
      }
      if (!row.token.length) {
        throw new ApiError('git_host_refused', {
          message: 'The token of this connection was lost with the secret key: give it a new one.',
        });
      }
      return { kind, url, username, token: box.open(row.tokenId, row.token).toString('utf8') };
    },

    async refresh(db) {
      if (!app) return;
      try {
        const found = await app.listInstallations();
        await db.transaction(async (tx) => {
          await store.lockInstallations(tx);
          await store.updateAppInstallations(tx, app.url, found);
        });
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
        log.warn({ failure: error.failure }, 'GitHub did not say where its app is installed');
      }
    },
  };
}

function hostUrl(
  kind: store.HostKind,
  given: string | null | undefined,
  options: { allowPrivate: boolean },
): string {
  const text = given ?? DEFAULT_URLS[kind];
  if (text === undefined) throw invalid('url', 'must be given for a host of this kind');
  return plainUrl(text, 'url', options);
}

/** As replies and the audit log show it: without the token. */
export const toInstallation = ({ id, name, kind, url, username }: store.InstallationRow) => ({
  id: String(id),
  installationId: String(id),
  login: name,
  avatarUrl: '',
  kind,
  url,
  username,
});
