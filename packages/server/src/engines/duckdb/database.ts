/** Opens a DuckDB in memory that can read one folder, and nothing else of the machine or the network. */
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

export interface DuckdbSettings {
  type: 'duckdb';
  /** The only folder that queries can read. It need not exist yet. */
  filesDir: string;
  memoryMb: number;
  threads: number;
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

export async function openDatabase({ filesDir, memoryMb, threads }: DuckdbSettings): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryMb}MB`,
    threads: String(threads),
    // Gives memory back while no query runs.
    allocator_background_threads: 'true',
    // A query that needs more memory fails. It must not fill the disk instead.
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    allow_persistent_secrets: 'false',
  });
  const connection = await instance.connect();
  try {
    await connection.run("set global TimeZone = 'UTC'");
    await connection.run(`set allowed_directories = [${literal(filesDir)}]`);
    await connection.run('set enable_external_access = false');
    await connection.run('create schema files');
    await connection.run('set lock_configuration = true');
  } finally {
    connection.closeSync();
  }
  return instance;
}

/** Each query has its own connection, because an interrupt ends everything that runs on a connection. */
export async function withConnection<T>(
  instance: DuckDBInstance,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const connection = await instance.connect();
  try {
    return await work(connection);
  } finally {
    connection.closeSync();
  }
}
