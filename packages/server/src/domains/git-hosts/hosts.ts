/** What differs between git hosts: addresses, credentials, and the few calls of their APIs that are needed. */
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import { type Outbound, OutboundError } from '../../platform/outbound/outbound.ts';
import type { HostKind } from './store.ts';

export interface Host {
  kind: HostKind;
  /** Without a slash at its end. */
  url: string;
  username: string | null;
  token: string;
}

export interface HostRepository {
  id: number;
  name: string;
  htmlUrl: string;
}

export const DEFAULT_URLS: Readonly<Partial<Record<HostKind, string>>> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  bitbucket: 'https://bitbucket.org',
};

export const PAGE = 100;
const PAGES_MAX = 10;
const REPLY_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 20_000;

/** The user that goes with a token, where the host does not care or wants a fixed one. */
const USERS: Readonly<Record<HostKind, string>> = {
  github: 'x-access-token',
  github_app: 'x-access-token',
  gitlab: 'oauth2',
  gitea: 'oauth2',
  bitbucket: 'x-token-auth',
  git: 'git',
};

export const credentialsOf = ({ kind, username, token }: Host) => ({ user: username ?? USERS[kind], token });

/** The address of a repository for git. */
export function repositoryUrl({ kind, url }: Pick<Host, 'kind' | 'url'>, name: string): string {
  const path = name.split('/').map(encodeURIComponent).join('/');
  return kind === 'git' || path.endsWith('.git') ? `${url}/${path}` : `${url}/${path}.git`;
}

interface Api {
  base(url: string): string;
  headers(host: Host): Record<string, string>;
  /** The page of repositories with this number, from 1. */
  listPath(page: number): string;
  read(body: unknown): { repositories: HostRepository[]; isLast: boolean };
  /** Makes a repository. The owner is whom the token belongs to, if none is given. */
  create(ask: Ask, repository: NewRepository): Promise<unknown>;
  /** Sets the status of a commit. Hosts without it have none. */
  setStatus?(ask: Ask, repository: string, commit: string, status: CommitStatus): Promise<unknown>;
  hooks?: {
    list(repository: string): string;
    /** Has the host send a webhook now. */
    test(repository: string, id: number): string;
  };
}

/** `pending` while it is not known yet. */
export type CommitState = 'pending' | 'success' | 'failure';

export interface CommitStatus {
  state: CommitState;
  description: string;
  /** Names the check among others. */
  context: string;
  targetUrl: string;
}

/** GitHub takes no more, and Gitea and GitLab show no more. */
const DESCRIPTION_MAX = 140;

const shortened = (text: string) => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > DESCRIPTION_MAX ? `${line.slice(0, DESCRIPTION_MAX - 1)}…`.toWellFormed() : line;
};

/** With its owner, as paths of APIs have it. */
const pathOf = (repository: string) =>
  repository
    .replace(/\.git$/, '')
    .split('/')
    .map(encodeURIComponent)
    .join('/');
const gitlabPathOf = (repository: string) => encodeURIComponent(repository.replace(/\.git$/, ''));

/** GitHub and Gitea take the same. */
const setStatus: Api['setStatus'] = (ask, repository, commit, { state, description, context, targetUrl }) =>
  ask(`/repos/${pathOf(repository)}/statuses/${commit}`, {
    state,
    ...{ description: shortened(description), context, target_url: targetUrl },
  });

type Ask = (path: string, body?: object) => Promise<unknown>;

interface NewRepository {
  name: string;
  owner: string | undefined;
  isPrivate: boolean;
}

type Fields = Record<string, unknown>;

export const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

/** Answers of hosts are not trusted: one that is no list counts as empty, and items that are no objects are left out. */
export const asList = (body: unknown): Fields[] =>
  Array.isArray(body) ? body.filter((item) => typeof item === 'object' && item !== null) : [];
export const idOf = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : 0);

/** GitHub and Gitea have the same fields. */
const readFullNames = (body: unknown) => {
  const repositories = asList(body).map(({ id, full_name, html_url }) => ({
    id: idOf(id),
    name: String(full_name),
    htmlUrl: String(html_url),
  }));
  return { repositories, isLast: repositories.length === 0 };
};

/** The owner may be an organization or the person whom the token belongs to, and the API has a path for each. */
const createForOwner: Api['create'] = async (ask, { name, owner, isPrivate }) => {
  const body = { name, private: isPrivate };
  if (!owner) return ask('/user/repos', body);
  const { login } = asFields(await ask('/user'));
  return ask(login === owner ? '/user/repos' : `/orgs/${encodeURIComponent(owner)}/repos`, body);
};

const GITHUB: Api = {
  base: (url) => (url === DEFAULT_URLS.github ? 'https://api.github.com' : `${url}/api/v3`),
  headers: ({ token }) => ({ authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' }),
  listPath: (page) => `/user/repos?per_page=${PAGE}&page=${page}`,
  read: readFullNames,
  create: createForOwner,
  setStatus,
  hooks: {
    list: (repository) => `/repos/${pathOf(repository)}/hooks?per_page=${PAGE}`,
    test: (repository, id) => `/repos/${pathOf(repository)}/hooks/${id}/pings`,
  },
};

const APIS: Readonly<Record<Exclude<HostKind, 'git'>, Api>> = {
  github: GITHUB,
  // What an installation reaches is listed at another place, and it makes repositories for organizations only.
  github_app: {
    ...GITHUB,
    listPath: (page) => `/installation/repositories?per_page=${PAGE}&page=${page}`,
    read: (body) => readFullNames(asFields(body).repositories),
    create: (ask, { name, owner, isPrivate }) =>
      ask(`/orgs/${encodeURIComponent(owner ?? '')}/repos`, { name, private: isPrivate }),
  },
  gitea: {
    base: (url) => `${url}/api/v1`,
    headers: ({ token }) => ({ authorization: `token ${token}` }),
    listPath: (page) => `/user/repos?limit=${PAGE}&page=${page}`,
    read: readFullNames,
    create: createForOwner,
    setStatus,
    hooks: {
      list: (repository) => `/repos/${pathOf(repository)}/hooks?limit=${PAGE}`,
      test: (repository, id) => `/repos/${pathOf(repository)}/hooks/${id}/tests`,
    },
  },
  gitlab: {
    base: (url) => `${url}/api/v4`,
    headers: ({ token }) => ({ authorization: `Bearer ${token}` }),
    listPath: (page) =>
      `/projects?membership=true&simple=true&order_by=path&sort=asc&per_page=${PAGE}&page=${page}`,
    read(body) {
      const repositories = asList(body).map(({ id, path_with_namespace, web_url }) => ({
        id: idOf(id),
        name: String(path_with_namespace),
        htmlUrl: String(web_url),
      }));
      return { repositories, isLast: repositories.length === 0 };
    },
    async create(ask, { name, owner, isPrivate }) {
      const namespace = owner && asFields(await ask(`/namespaces/${encodeURIComponent(owner)}`)).id;
      const visibility = isPrivate ? 'private' : 'public';
      return ask('/projects', {
        name,
        path: name,
        visibility,
        ...(owner ? { namespace_id: namespace } : {}),
      });
    },
    setStatus: (ask, repository, commit, { state, description, context, targetUrl }) =>
      ask(`/projects/${gitlabPathOf(repository)}/statuses/${commit}`, {
        state: { pending: 'running', success: 'success', failure: 'failed' }[state],
        ...{ description: shortened(description), name: context, target_url: targetUrl },
      }),
    hooks: {
      list: (repository) => `/projects/${gitlabPathOf(repository)}/hooks?per_page=${PAGE}`,
      test: (repository, id) => `/projects/${gitlabPathOf(repository)}/hooks/${id}/test/push_events`,
    },
  },
  bitbucket: {
    base: (url) => (url === DEFAULT_URLS.bitbucket ? 'https://api.bitbucket.org/2.0' : `${url}/2.0`),
    headers: (host) => {
      const { user, token } = credentialsOf(host);
      return host.username
        ? { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}` }
        : { authorization: `Bearer ${token}` };
    },
    listPath: (page) => `/repositories?role=member&pagelen=${PAGE}&page=${page}`,
    read(body) {
      const { values, next } = asFields(body);
      const repositories = asList(values).map(({ uuid, full_name, links }) => ({
        id:
          Number.parseInt(
            String(uuid)
              .replace(/[^0-9a-f]/gi, '')
              .slice(0, 12),
            16,
          ) || 0,
        name: String(full_name),
        htmlUrl: String((links as { html?: { href?: unknown } } | undefined)?.html?.href ?? ''),
      }));
      return { repositories, isLast: typeof next !== 'string' };
    },
    create: (ask, { name, owner, isPrivate }) => {
      const path = [owner ?? '', name].map(encodeURIComponent).join('/');
      return ask(`/repositories/${path}`, { scm: 'git', is_private: isPrivate });
    },
    setStatus: (ask, repository, commit, { state, description, context, targetUrl }) =>
      ask(`/repositories/${pathOf(repository)}/commit/${commit}/statuses/build`, {
        state: { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' }[state],
        ...{ description: shortened(description), key: context, name: context, url: targetUrl },
      }),
  },
};

const apiOf = ({ kind }: Host) => (kind === 'git' ? undefined : APIS[kind]);

class StatusError extends RemoteError {
  readonly status: number;

  constructor(status: number) {
    super('failed', `The git host answers with the status ${status}.`);
    this.status = status;
  }
}

/** How hosts answer if there is a repository of this name: GitLab and Bitbucket, Gitea, GitHub. */
const TAKEN = [400, 409, 422];

/** Sends a request to the API of the host, and returns the JSON of the answer. Throws a `RemoteError`. */
export async function ask(outbound: Outbound, host: Host, path: string, body?: object): Promise<unknown> {
  const api = apiOf(host)!;
  const answer = await outbound
    .fetch(api.base(host.url) + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...api.headers(host),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body ? JSON.stringify(body) : null,
      maxBytes: REPLY_BYTES,
      timeoutMs: TIMEOUT_MS,
    })
    .catch((error: unknown) => {
      throw error instanceof OutboundError ? new RemoteError('unreachable', error.message) : error;
    });
  const { status } = answer;
  if (status === 401 || status === 403)
    throw new RemoteError(
      'unauthorized',
      'The git host does not accept the token, or the token may not do this.',
    );
  if (status === 404)
    throw new RemoteError('not_found', 'The git host does not have this, or does not show it.');
  if (status < 200 || status >= 300) throw new StatusError(status);
  const text = await answer.text();
  // A test of a webhook has nothing to answer.
  if (!text) return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new RemoteError('failed', 'The answer of the git host is not JSON: is its address right?');
  }
}

/** Throws a `RemoteError`. */
export async function listRepositories(outbound: Outbound, host: Host): Promise<HostRepository[]> {
  const api = apiOf(host);
  if (!api) return [];
  const found: HostRepository[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const { repositories, isLast } = api.read(await ask(outbound, host, api.listPath(page)));
    found.push(...repositories);
    if (isLast) break;
  }
  return found;
}

/** Returns the name of the new repository with its owner. Throws a `RemoteError`. */
export async function createRepository(
  outbound: Outbound,
  host: Host,
  name: string,
  isPrivate: boolean,
): Promise<string> {
  const api = apiOf(host);
  if (!api)
    throw new RemoteError(
      'failed',
      'A host of the kind `git` cannot make repositories: make it there, and connect it.',
    );
  const parts = name.split('/');
  const own = parts.pop()!;
  const owner = parts.length ? parts.join('/') : undefined;
  const asked: Ask = (path, body) => ask(outbound, host, path, body);
  const made = asFields(
    await api.create(asked, { name: own, owner, isPrivate }).catch((error: unknown) => {
      if (!(error instanceof StatusError && TAKEN.includes(error.status))) throw error;
      throw new RemoteError(
        'failed',
        `The git host does not make the repository (status ${error.status}). If there is one of this name, connect it without \`isNewRepo\`.`,
      );
    }),
  );
  const full = made.full_name ?? made.path_with_namespace;
  return typeof full === 'string' ? full : name;
}

/** Throws a `RemoteError` if the token does not work. A host of the kind `git` has nothing to ask. */
export async function tryToken(outbound: Outbound, host: Host): Promise<boolean> {
  const api = apiOf(host);
  if (api) await ask(outbound, host, api.listPath(1));
  return api !== undefined;
}

export const hasStatuses = (host: Host): boolean => apiOf(host)?.setStatus !== undefined;

/** Sets the status of a commit. Does nothing for hosts without statuses. Throws a `RemoteError`. */
export async function setCommitStatus(
  outbound: Outbound,
  host: Host,
  repository: string,
  commit: string,
  status: CommitStatus,
): Promise<void> {
  await apiOf(host)?.setStatus?.((path, body) => ask(outbound, host, path, body), repository, commit, status);
}

/**
 * Has the host send the webhook with this address now. Returns false if the host cannot, or has no such webhook. Throws
 * a `RemoteError`.
 */
export async function testWebhook(
  outbound: Outbound,
  host: Host,
  repository: string,
  webhookUrl: string,
): Promise<boolean> {
  const hooks = apiOf(host)?.hooks;
  if (!hooks) return false;
  const known = asList(await ask(outbound, host, hooks.list(repository)));
  const own = known.find(({ url, config }) => url === webhookUrl || asFields(config).url === webhookUrl);
  if (!own || !idOf(own.id)) return false;
  await ask(outbound, host, hooks.test(repository, idOf(own.id)), {});
  return true;
}
