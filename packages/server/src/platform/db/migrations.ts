/** The numbered SQL files. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
  /** What a migration does if it runs outside of a transaction. */
  outside?: { index: string; isMade: boolean };
}

/** The first line of a migration that would take too long in one transaction, because the table has very many rows. */
const OUTSIDE = '-- outside a transaction\n';
/** Statements that can be repeated if they were interrupted; see `applyOutside`. */
const REPEATABLE =
  /^(?:create (?:unique )?index concurrently (?<made>\w+) on|drop index concurrently if exists (?<dropped>\w+))[^;]*;?$/;

export async function readMigrations(dir: string): Promise<Migration[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, i) => {
      const version = Number(file.slice(0, 4));
      const previous = Number(files[i - 1]?.slice(0, 4) ?? 0);
      if (!(version > previous)) throw new Error(`migration ${file} needs a number of its own`);
      return parseMigration(version, file.slice(5, -4), await readFile(join(dir, file), 'utf8'));
    }),
  );
}

export function parseMigration(version: number, name: string, text: string): Migration {
  const checksum = createHash('sha256').update(text).digest('hex');
  if (!text.startsWith(OUTSIDE)) return { version, name, text, checksum };
  const { made, dropped } = REPEATABLE.exec(text.replace(/^--.*$/gm, '').trim())?.groups ?? {};
  const index = made ?? dropped;
  if (!index) {
    throw new Error(
      `migration ${version} (${name}) runs outside of a transaction, and there it can only be one \`create index concurrently\` or one \`drop index concurrently if exists\``,
    );
  }
  return { version, name, text, checksum, outside: { index, isMade: made !== undefined } };
}
