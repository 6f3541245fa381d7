/** A database of others that a deployment has as its data source, on the PostgreSQL server under test. */
import { randomBytes } from 'node:crypto';
import type { NetConnectOpts } from 'node:net';
import pg from 'pg';
import { inject } from 'vitest';
import type { ServerSource } from '../src/engines/data-sources.ts';
import { administer, createDatabase, dropDatabase, onServer } from './databases.ts';
import { type Front, startFront } from './front-of-postgres.ts';

export interface SourceDatabase {
  /** As a user who may only read, and by TCP, because Unix sockets are refused. */
  source: ServerSource;
  /** How a proxy of a test reaches the server. */
  target: NetConnectOpts;
  /** Runs a statement as the owner of the database. */
  administer(statement: string): Promise<pg.QueryResult>;
  stop(): Promise<void>;
}

export async function createSourceDatabase(statements: string): Promise<SourceDatabase> {
  const serverUrl = inject('postgresUrl');
  const database = await createDatabase(serverUrl);
  const url = onServer(serverUrl, database);
  const user = `reader_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  const target = targetOf(serverUrl);
  const front: Front = await startFront({ refusal: () => undefined, target });
  await administer(url, statements);
  await administer(
    url,
    `create role ${user} login password '${password}'; grant pg_read_all_data to ${user}`,
  );
  const source: ServerSource = {
    name: 'default',
    type: 'postgres',
    host: '127.0.0.1',
    port: front.port,
    database,
    user,
    password,
    tls: 'off',
  };
  return {
    source,
    target,
    administer: (statement) => administer(url, statement),
    async stop() {
      front.stop();
      await dropDatabase(serverUrl, database);
      await administer(serverUrl, `drop role ${user}`);
    },
  };
}

function targetOf(serverUrl: string): NetConnectOpts {
  const { host, port } = new pg.Client({ connectionString: serverUrl });
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

/** The variables of a deployment that name this source. */
export const variablesOf = ({ type, host, port, database, user, password }: ServerSource, prefix = '') =>
  Object.entries({
    DB_TYPE: type,
    DB_HOST: host,
    DB_PORT: String(port),
    DB_NAME: database,
    DB_USER: user,
    DB_PASS: password,
    DB_SSL: 'false',
  }).map(([name, value]) => ({ name: prefix + name, value }));
