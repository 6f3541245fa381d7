/** The smallest authenticated requests: one that is answered from memory, and one that queries. */
import pg from 'pg';
import { startAnchor } from './harness/anchor.ts';
import type { Anchor, Benchmark, Contender, RunOptions } from './harness/benchmark.ts';
import { ADMIN_PASSWORD, type Connection, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { runWrk, wrkVersion } from './harness/wrk.ts';

const CONNECTIONS = 32;

export const usersMe: Benchmark = {
  name: 'users-me',
  description:
    'GET requests with an API key, from memory and with a query, against bare servers that return the same',
  run,
};

const LACKS = 'It has no credential, permission, validation, request id, log and metrics.';

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const { url, headers, connection } = await startOriel();
  const person = await signIn(url);

  /** An operation, and how to start servers that return the same. */
  const open = async (name: string, path: string) => {
    const reply = await fetch(url + path, { headers });
    if (reply.status !== 200) throw new Error(`GET ${path} answered ${reply.status}.`);
    const body = await reply.text();
    const env = { ANCHOR_BODY: body, ANCHOR_CONNECTION: JSON.stringify(connection) };
    // The anchors get the same header, so that every request has the same size.
    const load = (contender: string, address: string): Contender => ({
      name: contender,
      measure: (seconds) => runWrk({ url: address, headers, connections: CONNECTIONS }, seconds),
    });
    return {
      bytes: Buffer.byteLength(body),
      subject: load(name, url + path),
      anchor: async (title: string, file: string, does: string): Promise<Anchor> => ({
        ...load(title, `${(await startAnchor(file, env)).url}/`),
        does: `${does} ${LACKS}`,
      }),
    };
  };

  const me = await open('Oriel, users/me, from memory', '/api/v1/users/me');
  const fastify = await me.anchor(
    'bare Fastify',
    'bare-fastify',
    'returns a constant object, and queries nothing.',
  );
  const fromMemory = await measureInTurns(me.subject, [fastify], options);

  const role = await open('Oriel, one role, one query', '/api/v1/roles/1');
  const selecting = await role.anchor(
    'bare Fastify with one select 1',
    'fastify-select-1',
    'runs `select 1` in a pool of 10 connections and returns a constant object. It reads no table and no row.',
  );
  const querying = await measureInTurns(role.subject, [selecting], options);

  const withToken: Contender = {
    name: 'Oriel, users/me, with the access token of a person',
    measure: (seconds) =>
      runWrk({ url: `${url}/api/v1/users/me`, headers: person, connections: CONNECTIONS }, seconds),
  };
  const withKey: Anchor = { ...me.subject, name: 'the same with an API key', does: 'is the same request.' };
  const ofPeople = await measureInTurns(withToken, [withKey], options);

  return {
    measured: [...fromMemory.measured, ...querying.measured, ...ofPeople.measured],
    comparisons: [
      fromMemory.compare(fastify),
      querying.compare(selecting, { asked: { atLeast: 0.5 } }),
      ofPeople.compare(withKey, { asked: { atLeast: 0.9 } }),
    ],
    facts: {
      postgres: await postgresVersion(connection),
      wrk: `${wrk}, 1 thread, ${CONNECTIONS} connections`,
      answers: `${me.bytes} bytes of the user, ${role.bytes} bytes of the role`,
    },
  };
}

/** The header of the first admin, who signed in. */
async function signIn(url: string): Promise<Record<string, string>> {
  const reply = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@example.com', password: ADMIN_PASSWORD }),
  });
  const { accessToken } = (await reply.json()) as { accessToken: string };
  return { authorization: `Bearer ${accessToken}` };
}

async function postgresVersion(connection: Connection): Promise<string> {
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client.query('show server_version');
  await client.end();
  return rows[0].server_version;
}
