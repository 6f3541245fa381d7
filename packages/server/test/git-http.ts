/** A real git server over HTTP: `git http-backend` behind a small server on loopback, with a user and a token. */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createRealGit, type RealGit } from './real-git.ts';

export interface GitHttp {
  url: string;
  credentials: { user: string; token: string };
  /** Holds the folders of the repositories. */
  git: RealGit;
  /** Makes an empty bare repository, and returns its address. */
  createRepository(name: string): Promise<string>;
  /** What was asked for, such as `POST /model.git/git-upload-pack`. */
  requests: string[];
  stop(): Promise<void>;
}

const CREDENTIALS = { user: 'oriel', token: 'a-token-of-the-git-server' };

export interface GitHttpOptions {
  /** Answers requests whose path begins with `/api/` or `/2.0/`, as the API of a git host. Then any user with the token may use git. */
  api?: (request: IncomingMessage, response: ServerResponse) => void;
}

export async function createGitHttp({ api }: GitHttpOptions = {}): Promise<GitHttp> {
  const git = await createRealGit();
  const root = join(git.dir, 'served');
  await mkdir(root);
  const requests: string[] = [];
  const wanted = `Basic ${Buffer.from(`${CREDENTIALS.user}:${CREDENTIALS.token}`).toString('base64')}`;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url!.split('?')[0]}`);
    if (api && /^\/(api|2\.0)\//.test(request.url!)) return api(request, response);
    const [, given = ''] = (request.headers.authorization ?? '').split('Basic ');
    const [, token] = Buffer.from(given, 'base64').toString().split(':');
    const isKnown = api ? token === CREDENTIALS.token : request.headers.authorization === wanted;
    if (!isKnown) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?');
      return;
    }
    runBackend(root, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    credentials: CREDENTIALS,
    git,
    requests,
    async createRepository(name) {
      await git.run(['init', '--quiet', '--bare', '--initial-branch=main', join('served', `${name}.git`)]);
      return `${url}/${name}.git`;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await git.remove();
    },
  };
}

/** Runs git's CGI program for one request. */
function runBackend(root: string, request: IncomingMessage, response: ServerResponse) {
  const { pathname, search } = new URL(request.url!, 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      // git allows pushes only to a user who is signed in.
      REMOTE_USER: CREDENTIALS.user,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    const headers = output
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(/: (.*)/s, 2) as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
    for (const [name, value] of headers) if (name && name !== 'Status') response.setHeader(name, value);
    response.writeHead(Number.parseInt(status, 10)).end(output.subarray(end + 4));
  });
}
