/** The owner of each table, as the files `tables.ts` define it. */
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const SOURCES = join(import.meta.dirname, '../src');

/** By the folder, such as `domains/users`. */
export async function ownedTables(): Promise<[owner: string, table: string][]> {
  const files = (await readdir(SOURCES, { recursive: true })).filter((file) =>
    /(^|\/)tables\.ts$/.test(file),
  );
  const owned = files.map(async (file) => {
    const { tables } = (await import(join(SOURCES, file))) as { tables: readonly string[] };
    return tables.map((table): [string, string] => [dirname(file), table]);
  });
  return (await Promise.all(owned)).flat();
}
