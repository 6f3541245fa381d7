/** How to reach an embedded database. */
import type pg from 'pg';
import { type ConnectionSettings, openClient } from '../connection.ts';
import { type Cluster, ROLE } from './cluster.ts';

export const connectionTo = (
  { socketDir }: Pick<Cluster, 'socketDir'>,
  database: string,
): ConnectionSettings => ({
  host: socketDir,
  port: 5432,
  user: ROLE,
  database,
});

export const connect = (cluster: Pick<Cluster, 'socketDir'>, database = 'postgres'): Promise<pg.Client> =>
  openClient(connectionTo(cluster, database));
