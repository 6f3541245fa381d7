/** Makes, changes and restores backups of databases. */
import { readConfig } from '../src/config.ts';
import { fingerprintsOf } from '../src/domains/installation/index.ts';
import {
  type ArchiveWriter,
  type Header,
  readArchive,
  type Totals,
  writeArchive,
} from '../src/platform/db/backup/archive.ts';
import { dumpDatabase } from '../src/platform/db/backup/dump.ts';
import { restoreBackup } from '../src/restore.ts';

export const SECRET_KEY = 'hT4wVb7nQz2xKc9mRf5jLd8sGp3yAe6u';

/** Runs `describe` when the moment of the backup is fixed, and `beside` at each part of it. */
export async function backUp(
  url: string,
  path: string,
  { describe, beside }: { describe?: () => Promise<void>; beside?: () => Promise<void> } = {},
) {
  await writeArchive(path, async (archive) => {
    const slow: ArchiveWriter = {
      ...archive,
      async part(part, data) {
        await beside?.();
        await archive.part(part, data);
      },
    };
    const totals = await dumpDatabase({ connectionString: url }, slow, async () => {
      await describe?.();
      return {
        version: '0.1.0',
        createdAt: new Date().toISOString(),
        secretKeyFingerprint: fingerprintsOf([SECRET_KEY])[0]!,
      };
    });
    await archive.totals({ ...totals, files: 0 });
  });
}

export interface Changes {
  header?: (header: Header) => Partial<Header>;
  /** Changes the rows, which are text of single bytes. */
  rows?: (rows: string, table: string) => string;
  /** The files to add to the backup, by name. */
  files?: Record<string, string>;
  totals?: Partial<Totals>;
}

/** Writes a backup that is sound in itself, and has other content. */
export async function rewrite(from: string, to: string, changes: Changes) {
  const { header, rows = (same) => same, files = {}, totals } = changes;
  await writeArchive(to, async (archive) => {
    for await (const entry of readArchive(from)) {
      if ('header' in entry) await archive.header({ ...entry.header, ...header?.(entry.header) });
      else if ('totals' in entry) {
        for (const [file, text] of Object.entries(files)) await archive.part({ file }, Buffer.from(text));
        await archive.totals({ ...entry.totals, files: Object.keys(files).length, ...totals });
      } else if ('table' in entry.part) {
        const changed = rows(entry.data.toString('latin1'), entry.part.table);
        await archive.part(entry.part, Buffer.from(changed, 'latin1'));
      }
    }
  });
}

export interface RestoreTarget {
  /** The database to restore into; without it, an embedded one. */
  url?: string;
  dataDir: string;
  /** The secret key; without it, that of the backup or of the data dir. */
  secretKey?: string;
  signal?: AbortSignal;
}

export const restore = (from: string, { url, dataDir, secretKey, signal }: RestoreTarget) =>
  restoreBackup(
    readConfig({
      ORIEL_DATA_DIR: dataDir,
      ...(url === undefined ? {} : { ORIEL_DATABASE_URL: url }),
      ...(secretKey === undefined ? {} : { ORIEL_SECRET_KEY: secretKey }),
    }),
    [from],
    signal,
  );
