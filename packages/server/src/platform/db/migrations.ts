/** The numbered SQL files. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../startup-error.ts';

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
  requireNumbers(files);
  return Promise.all(
    files.map(async (file) =>
      parseMigration(numberOf(file), file.slice(5, -4), await readFile(join(dir, file), 'utf8')),
    ),
  );
}

const numberOf = (file: string) => Number(file.slice(0, 4));
const numbered = (number: number, name: string) => `${String(number).padStart(4, '0')}-${name}`;

/** Throws unless these files, in their order, have the numbers from 1 on, each once. */
export function requireNumbers(files: readonly string[]): void {
  for (const [i, file] of files.entries()) {
    const expected = i + 1;
    if (!/^\d{4}-.+\.sql$/.test(file)) {
      throw new StartupError(
        `The migration ${file} has no number: give it a name like ${numbered(files.length, 'name.sql')}.`,
      );
    }
    if (numberOf(file) === expected) continue;
    const before = files[i - 1];
    if (before && numberOf(before) === numberOf(file)) {
      const free = Math.max(...files.map(numberOf)) + 1;
      throw new StartupError(
        `The migrations ${before} and ${file} have the same number: give the newer one the number ${free}.`,
      );
    }
    throw new StartupError(
      `There is no migration with the number ${expected}: rename ${file} to ${numbered(expected, file.slice(5))}, or restore the missing file.`,
    );
  }
}

export function parseMigration(version: number, name: string, text: string): Migration {
  const checksum = createHash('sha256').update(text).digest('hex');
  if (!text.startsWith(OUTSIDE)) return { version, name, text, checksum };
  const { made, dropped } = REPEATABLE.exec(text.replace(/^--.*$/gm, '').trim())?.groups ?? {};
  const index = made ?? dropped;
  if (!index) {
    throw new StartupError(
      `Migration ${version} (${name}) runs outside of a transaction, and there it can only be one \`create index concurrently\` or one \`drop index concurrently if exists\``,
    );
  }
  return { version, name, text, checksum, outside: { index, isMade: made !== undefined } };
}
