/** Makes each Parquet and CSV file of a folder a table: `orders.parquet` is `files.orders`. */
import type { DuckDBInstance } from '@duckdb/node-api';
import { withConnection } from './database.ts';
import { listFiles } from './list-files.ts';

export interface FileTables {
  /** Follows what has changed in the folder. */
  refresh(): Promise<void>;
  /** Why a file is not a table, by the name of the table that it would be, in small letters. */
  readonly failures: ReadonlyMap<string, string>;
}

export function createFileTables(instance: DuckDBInstance, filesDir: string): FileTables {
  const known = new Map<string, string>();
  const failures = new Map<string, string>();
  let last: Promise<void> = Promise.resolve();

  async function follow() {
    const found = listFiles(filesDir);
    const gone = [...known.keys()].filter((table) => !found.has(table));
    const changed = [...found].filter(([table, { version }]) => known.get(table) !== version);
    if (gone.length + changed.length === 0) return;
    await withConnection(instance, async (connection) => {
      for (const table of gone) {
        await connection.run(`drop view if exists files.${quoted(table)}`);
        known.delete(table);
        failures.delete(table);
      }
      for (const [key, { table, path, reader, version }] of changed) {
        // A file that cannot be read must not keep the others from being read.
        await connection
          .run(
            `create or replace view files.${quoted(table)} as select * from ${reader}('${path.replaceAll("'", "''")}')`,
          )
          .then(
            () => failures.delete(key),
            async (error: Error) => {
              failures.set(key, firstLine(error.message));
              await connection.run(`drop view if exists files.${quoted(table)}`);
            },
          );
        known.set(key, version);
      }
    });
  }

  return {
    failures,
    refresh() {
      // One after the other, because two changes of one view at the same time conflict.
      const next = last.then(follow);
      last = next.catch(() => {});
      return next;
    },
  };
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const firstLine = (text: string) => text.split('\n')[0]!.slice(0, 300);
