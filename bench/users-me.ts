/** The smallest authenticated request: what the platform itself costs, with one small query behind it. */
import pg from 'pg';
import { startAnchor } from './harness/anchor.ts';
import type { Benchmark, Contender, RunOptions } from './harness/benchmark.ts';
import { type Connection, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { runWrk, wrkVersion } from './harness/wrk.ts';

const CONNECTIONS = 32;

export const usersMe: Benchmark = {
  name: 'users-me',
  description: 'GET /api/v1/users/me with an API key, against bare servers that answer the same',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const { url, headers, connection } = await startOriel();
  const me = `${url}/api/v1/users/me`;
  const reply = await fetch(me, { headers });
  if (reply.status !== 200) throw new Error(`GET ${me} answered ${reply.status}.`);
  const body = await reply.text();
  const env = { ANCHOR_BODY: body, ANCHOR_CONNECTION: JSON.stringify(connection) };

  // The anchors get the same header, so that every request has the same size.
  const load = (name: string, address: string): Contender => ({
    name,
    measure: (seconds) => runWrk({ url: address, headers, connections: CONNECTIONS }, seconds),
  });
  const anchor = async (name: string, file: string) => load(name, `${(await startAnchor(file, env)).url}/`);
  const http = await anchor('bare node:http', 'bare-http');
  const fastify = await anchor('bare Fastify', 'bare-fastify');
  const withDatabase = await anchor('bare Fastify with one select 1', 'fastify-select-1');

  const rounds = await measureInTurns(load('Oriel', me), [http, fastify, withDatabase], options);
  return {
    measured: rounds.measured,
    comparisons: [
      rounds.compare(http),
      rounds.compare(fastify),
      rounds.compare(withDatabase, { asked: { atLeast: 0.6 } }),
    ],
    facts: {
      postgres: await postgresVersion(connection),
      wrk: `${wrk}, 1 thread, ${CONNECTIONS} connections`,
      answer: `${Buffer.byteLength(body)} bytes of JSON`,
    },
  };
}

async function postgresVersion(connection: Connection): Promise<string> {
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client.query('show server_version');
  await client.end();
  return rows[0].server_version;
}
