/** A real server behind nginx and Caddy, with the samples of deploy/. Run by `npm run test:deploy`. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  freePort,
  isListening,
  newDataDir,
  newFolder,
  type RunningServer,
  startServer,
  until,
} from '../server-process.ts';
import { outputOf, type Program, replaced, sample, start } from './programs.ts';

const NAME = 'analytics.example.com';
const METRICS_TOKEN = 'a-token-for-the-metrics';
/** An address of this machine that is not the proxy's. */
const CLIENT = '127.0.0.9';
/** The largest body of an operation, such as writing files of a data model. */
const LARGEST = 8 * 2 ** 20;

interface Proxy {
  program: Program;
  port: number;
  /** The certificate, if there is TLS. */
  ca?: Buffer;
}

let server: RunningServer;
let deploymentId: number;
beforeAll(async () => {
  server = await startServer(await newDataDir(), {
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
    ORIEL_DEMO: 'false',
    ORIEL_METRICS_TOKEN: METRICS_TOKEN,
    ORIEL_TRUST_PROXY: '127.0.0.1',
  });
  deploymentId = (
    await server.client(ADMIN_KEY).createDeployment({ body: deploymentNamed('Behind a proxy') })
  ).id;
});
afterAll(cleanUp);

const upstream = () => ({ '127.0.0.1:4000': new URL(server.url).host });

async function startNginx(): Promise<Proxy & { plainPort: number }> {
  const folder = await newFolder();
  const [port, plainPort] = [await freePort(), await freePort()];
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  await outputOf(
    'openssl',
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${NAME}`],
    ...['-addext', `subjectAltName=DNS:${NAME}`, '-keyout', key, '-out', certificate],
  );
  const site = replaced(sample('nginx/oriel.conf'), {
    ...upstream(),
    'listen 443 ': `listen 127.0.0.1:${port} `,
    'listen 80;': `listen 127.0.0.1:${plainPort};`,
    '/etc/ssl/oriel/fullchain.pem': certificate,
    '/etc/ssl/oriel/privkey.pem': key,
  });
  await writeFile(join(folder, 'oriel.conf'), site);
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/nginx.pid; error_log stderr;
    events {}
    http { access_log off; client_body_temp_path ${folder}/bodies; include ${folder}/oriel.conf; }`,
  );
  const program = start('nginx', ['-c', join(folder, 'nginx.conf')]);
  await untilListening(program, port);
  return { program, port, plainPort, ca: readFileSync(certificate) };
}

async function startCaddy(): Promise<Proxy> {
  const folder = await newFolder();
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'Caddyfile');
  const site = replaced(sample('caddy/Caddyfile'), {
    ...upstream(),
    [`\n${NAME} {`]: `\n{\n\tadmin off\n}\nhttp://${NAME}:${port} {\n\tbind 127.0.0.1`,
  });
  await writeFile(file, site);
  const program = start('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { HOME: folder });
  await untilListening(program, port);
  return { program, port };
}

const untilListening = (program: Program, port: number) =>
  until('the proxy listens', () => {
    if (program.hasEnded()) throw new Error(program.output);
    return isListening(port);
  });

interface RequestInput {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request to the proxy from another address, and returns when the headers of the reply are there. */
async function send({ port, ca }: Proxy, path: string, { method = 'GET', headers, body }: RequestInput = {}) {
  const options = {
    ...{ host: '127.0.0.1', localAddress: CLIENT, port, path, method, agent: false as const },
    headers: { host: NAME, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  };
  const request = ca ? secure({ ...options, ca, servername: NAME }) : plain(options);
  request.flushHeaders();
  if (body !== undefined || headers?.['content-length'] === undefined) request.end(body);
  const [reply] = (await once(request, 'response')) as [IncomingMessage];
  // A reply may end the connection before the request was sent.
  request.on('error', () => {});
  return reply;
}

const withKey = (key: string) => ({ authorization: `Api-Key ${key}` });

async function json(proxy: Proxy, path: string, sent: RequestInput) {
  const reply = await send(proxy, path, sent);
  return { status: reply.statusCode, body: JSON.parse(await text(reply)) };
}

async function newToken(proxy: Proxy): Promise<string> {
  const minted = await json(proxy, '/api/v1/embed/generate-session', {
    method: 'POST',
    headers: withKey(ADMIN_KEY),
    body: JSON.stringify({ deploymentId, externalId: 'ada' }),
  });
  expect(minted.status).toBe(200);
  const exchanged = await json(proxy, '/api/v1/embed/session/token', {
    method: 'POST',
    body: JSON.stringify({ sessionId: minted.body.sessionId }),
  });
  expect(exchanged.status).toBe(200);
  return exchanged.body.token;
}

describe.each<{ name: string; startProxy: () => Promise<Proxy> }>([
  { name: 'nginx', startProxy: startNginx },
  { name: 'Caddy', startProxy: startCaddy },
])('behind $name', ({ startProxy }) => {
  let proxy: Proxy;
  beforeAll(async () => {
    proxy = await startProxy();
  });
  afterAll(() => proxy?.program.stop());

  test('keys are accepted and refused, and a new key works', async () => {
    const mine = await json(proxy, '/api/v1/users/me', { headers: withKey(ADMIN_KEY) });
    expect([mine.status, mine.body.isAdmin]).toEqual([200, true]);
    const wrong = await json(proxy, '/api/v1/users/me', { headers: withKey(`${ADMIN_KEY}-not`) });
    expect(wrong.status).toBe(401);
    const body = JSON.stringify({ name: 'made behind a proxy' });
    const made = await json(proxy, '/api/v1/api-keys', { method: 'POST', headers: withKey(ADMIN_KEY), body });
    expect((await json(proxy, '/api/v1/users/me', { headers: withKey(made.body.key) })).status).toBe(200);
  });

  test('a viewer gets a token, and their stream of events arrives while it is open', async () => {
    const headers = { authorization: `Bearer ${await newToken(proxy)}` };
    const session = await json(proxy, '/api/v1/embed/session', { headers });
    expect(session.body.deploymentId).toBe(deploymentId);

    const stream = await send(proxy, '/api/v1/embed/session/events', { headers });
    expect(stream.statusCode).toBe(200);
    let received = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      received += piece;
    });
    await until('the first piece is there', () => received !== '');
    expect(stream.readableEnded).toBe(false);
    await server.client(ADMIN_KEY).revokeEmbedSessions({ body: { deploymentId } });
    await until('the event is there', () => received.includes('event: ended'));
  });

  test("the log has the client's address, whatever the client wrote into X-Forwarded-For", async () => {
    const id = `from-${proxy.port}`;
    await json(proxy, '/api/v1/users/me', {
      headers: { ...withKey(ADMIN_KEY), 'x-request-id': id, 'x-forwarded-for': '203.0.113.5' },
    });
    const line = () => server.stdout.split('\n').find((line) => line.includes(`"requestId":"${id}"`));
    await until('the line is written', line);
    expect(JSON.parse(line()!)).toMatchObject({ ip: CLIENT, path: '/api/v1/users/me', status: 200 });
  });

  test('a body of 8 MiB reaches the server, and a larger one does not', async () => {
    const path = `/build/api/v1/deployments/${deploymentId}/data-model/files`;
    const sized = (bytes: number): RequestInput => {
      const body = JSON.stringify({ name: 'x'.repeat(bytes - 11) });
      const type = { 'content-type': 'application/json', 'content-length': String(bytes) };
      return { method: 'PUT', headers: { ...withKey(ADMIN_KEY), ...type }, body };
    };
    // The server has read it, and does not know its field.
    const { status, body } = await json(proxy, path, sized(LARGEST));
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    // Only its head is sent, because the proxy does not read the rest.
    expect((await send(proxy, path, { ...sized(LARGEST + 1), body: undefined })).statusCode).toBe(413);
  });

  test('metrics are not shown, not even with the token', async () => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    expect((await fetch(`${server.url}/metrics`, { headers })).status).toBe(200);
    expect((await send(proxy, '/metrics', { headers })).statusCode).toBe(404);
  });
});

test('nginx sends plain requests to the address with TLS', async () => {
  const { program, plainPort } = await startNginx();
  const reply = await send({ program, port: plainPort }, '/docs?x=1');
  expect([reply.statusCode, reply.headers.location]).toEqual([301, `https://${NAME}/docs?x=1`]);
  await program.stop();
});

test('Caddy accepts its sample as it is', async () => {
  await outputOf('caddy', 'validate', '--config', 'deploy/caddy/Caddyfile', '--adapter', 'caddyfile');
});
