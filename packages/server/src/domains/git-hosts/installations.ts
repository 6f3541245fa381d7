/** Connections to git hosts. Their tokens are sealed, and only `open` reads them. */
import { randomUUID } from 'node:crypto';
import { gitHostLimits } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import { DEFAULT_URLS, type Host } from './hosts.ts';
import * as store from './store.ts';

export const GIT_TOKEN_COLUMN: BoxedColumn = {
  table: 'git_installations',
  column: 'token',
  keyColumn: 'token_id',
  holds: 'tokens of git hosts',
};

export interface NewInstallation {
  name: string;
  kind: store.HostKind;
  url?: string | null | undefined;
  username?: string | null | undefined;
  token: string;
}

export interface Installations {
  create(tx: Tx, made: NewInstallation): Promise<store.InstallationRow>;
  /** Throws if there is no such connection. */
  open(db: Queryable, id: number): Promise<Host>;
}

export function createInstallations({ box: boxOf }: Pick<Platform, 'box'>): Installations {
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
        url: hostUrl(kind, url),
        username: username ?? null,
        tokenId,
        token: box.seal(tokenId, Buffer.from(token)),
      });
    },
    async open(db, id) {
      const row = found(await store.findInstallation(db, id), 'git_installation_not_found');
      const { kind, url, username } = row;
      if (!row.token.length) {
        throw new ApiError('git_host_refused', {
          message: 'The token of this connection was lost with the secret key: make a new connection.',
        });
      }
      return { kind, url, username, token: box.open(row.tokenId, row.token).toString('utf8') };
    },
  };
}

/** The token must not go to whoever reads the address, so an address with credentials in it is refused. */
function hostUrl(kind: store.HostKind, given: string | null | undefined): string {
  const text = given ?? DEFAULT_URLS[kind];
  if (text === undefined) throw invalid('url', 'must be given for a host of this kind');
  const url = new URL(text);
  if (url.username || url.password)
    throw invalid('url', 'must not contain a user name or password: give `username` and `token`');
  if (url.search || url.hash) throw invalid('url', 'must not have a query or a fragment');
  return url.href.replace(/\/+$/, '');
}

/** As replies and the audit log show it: without the token. */
export const toInstallation = ({ id, name, kind, url }: store.InstallationRow) => ({
  id: String(id),
  installationId: String(id),
  login: name,
  avatarUrl: '',
  kind,
  url,
});
