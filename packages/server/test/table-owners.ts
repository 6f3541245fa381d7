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

/** Returns a function that finds the folder of a table's owner. */
export async function readOwners(): Promise<(table: string) => string> {
  const owners = new Map((await ownedTables()).map(([owner, table]) => [table, owner]));
  return (table) => {
    const owner = owners.get(table);
    if (!owner) throw new Error(`the table ${table} has no owner: ${NAME_EACH_TABLE}`);
    return owner;
  };
}

export const NAME_EACH_TABLE = 'name it in the `tables.ts` of the folder that writes to it';
