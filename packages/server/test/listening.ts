/** Listeners of tests, and servers that cannot receive notifications. */
import { pino } from 'pino';
import { inject } from 'vitest';
import { createListener, type Listener } from '../src/platform/db/listener.ts';
import { administer } from './databases.ts';
import type { World } from './world.ts';

/** Returns a listener that already receives notifications of these channels. */
export async function startListening(connectionString: string, ...channels: string[]): Promise<Listener> {
  const listener = createListener({ connectionString }, pino({ level: 'silent' }));
  for (const channel of channels) listener.on(channel, () => {});
  await listener.start();
  return listener;
}

const LISTENERS = `
  select pid from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and query ~* '^(listen|select 1$)'`;

/** The servers of a world of its own connect again soon. */
export const terminateListeners = ({ server }: World) =>
  server.db.pool.query(`select pg_terminate_backend(pid) from (${LISTENERS}) l`);

/** Requests find open connections while new ones are refused. */
async function openAllConnections({ server }: World) {
  for (const { pool } of [server.db, server.essential]) {
    const all = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    for (const connection of all) connection.release();
  }
}

/** Refuses new connections, so that the listener cannot connect again until they are allowed. For a world of its own. */
export async function stopListening(world: World) {
  await openAllConnections(world);
  const database = new URL(world.databaseUrl).pathname.slice(1);
  const allow = (allowed: boolean) =>
    administer(inject('postgresUrl'), `alter database ${database} allow_connections ${allowed}`);
  await allow(false);
  await terminateListeners(world);
  return { resume: () => allow(true) };
}
