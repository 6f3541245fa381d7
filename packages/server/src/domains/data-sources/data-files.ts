/** Parquet and CSV files that people upload. Each is a table of the DuckDB of the deployment. */
import { operations } from '@oriel/contract';
import {
  DATA_FILES_MAX,
  deleteDataFile,
  listDataFiles,
  type WrittenFile,
  writeDataFile,
} from '../../engines/written-files.ts';
import { createAdmission } from '../../platform/admission/admission.ts';
import { ApiError } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { PrepareFiles } from './demo-files.ts';

interface Options {
  dataDir: string;
  /** The limit for all files of a deployment together. */
  bytesMax: number;
  prepareFiles: PrepareFiles;
}

const toReply = ({ name, table, size, changedAt }: WrittenFile) => ({
  name,
  table: `files.${table}`,
  size,
  changedAt: changedAt.toISOString(),
});

/** Files of a deployment change one after the other, so that its limits are exact on this server. */
const admission = createAdmission({
  places: 4,
  sharerPlaces: 1,
  waitingMax: 100,
  sharerWaitingMax: 20,
  waitMs: 10 * 60_000,
});

export const dataFileRoutes = ({ dataDir, bytesMax, prepareFiles }: Options) => [
  handle(operations.listDataFiles, async ({ db, cursors }, { params: { deploymentId }, query }) => {
    const list = `files of ${deploymentId}`;
    const from = query.after === undefined ? undefined : (cursors.decode(list, query.after)[0] as string);
    await prepareFiles(db, deploymentId);
    const files = await listDataFiles(dataDir, deploymentId);
    const size = pageSize(query.first);
    const shown = files.filter(({ name }) => from === undefined || name > from).slice(0, size + 1);
    return toPage(shown.map(toReply), {
      size,
      after: query.after,
      cursorOf: ({ name }) => cursors.encode(list, [name]),
    });
  }),

  handle(
    operations.uploadDataFile,
    async ({ db, change, signal }, { params: { deploymentId, fileName }, body }) => {
      await requireKind(fileName, body);
      await prepareFiles(db, deploymentId);
      return admission.take({ sharer: String(deploymentId), signal }, async () => {
        const before = requireRoom(await listDataFiles(dataDir, deploymentId), fileName, body.size, bytesMax);
        const waiting = await writeDataFile(dataDir, deploymentId, fileName, body.stream(), signal);
        try {
          return await change(async () => {
            // Put the file in place before the entry is written, so that a failure leaves no entry in the audit log.
            await waiting.put();
            const after = (await listDataFiles(dataDir, deploymentId)).find(({ name }) => name === fileName)!;
            const reply = toReply(after);
            return {
              reply,
              changes: { id: fileName, deploymentId, before: before ? toReply(before) : null, after: reply },
            };
          });
        } finally {
          await waiting.discard();
        }
      });
    },
  ),

  handle(operations.deleteDataFile, async ({ change, signal }, { params: { deploymentId, fileName } }) =>
    admission.take({ sharer: String(deploymentId), signal }, async () => {
      const before = (await listDataFiles(dataDir, deploymentId)).find(({ name }) => name === fileName);
      if (!before) throw new ApiError('data_file_not_found');
      return change(async () => {
        await deleteDataFile(dataDir, deploymentId, fileName);
        return {
          reply: undefined,
          changes: { id: fileName, deploymentId, before: toReply(before), after: null },
        };
      });
    }),
  ),
];

/** Returns the file that is replaced, if there is one. */
function requireRoom(files: readonly WrittenFile[], name: string, size: number, bytesMax: number) {
  // Names of tables are the same in small and capital letters.
  const table = name.replace(/\.\w+$/, '').toLowerCase();
  const other = files.find((file) => file.table.toLowerCase() === table && file.name !== name);
  if (other)
    throw new ApiError('data_file_name_taken', {
      message: `The file ${other.name} is the table files.${table} already. Delete it first, or choose another name.`,
    });
  const before = files.find((file) => file.name === name);
  if (!before && files.length >= DATA_FILES_MAX) throw new ApiError('too_many_data_files');
  const bytes = files.reduce((sum, file) => sum + file.size, size - (before?.size ?? 0));
  if (bytes > bytesMax)
    throw new ApiError('data_files_too_large', {
      message: `The files of a deployment may have ${bytesMax / 1024 ** 2} MB together, which is the setting ORIEL_DATA_FILES_MB of the server.`,
    });
  return before;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_ .-]*\.(parquet|csv)$/;
const HEAD_BYTES = 64 * 1024;

/** Throws at once for a file that no query could read. */
async function requireKind(
  name: string,
  { size, stream }: { size: number; stream(): AsyncIterable<Uint8Array> },
) {
  const invalid = (message: string) => new ApiError('data_file_invalid', { message });
  if (!NAME.test(name))
    throw invalid(
      'The name of a file has letters, digits, `_`, `-`, dots and spaces only, and ends with `.csv` or `.parquet`.',
    );
  if (size === 0) throw invalid('The file is empty.');
  const parts: Uint8Array[] = [];
  let read = 0;
  for await (const chunk of stream()) {
    parts.push(chunk);
    read += chunk.length;
    if (read >= HEAD_BYTES) break;
  }
  const head = Buffer.concat(parts).subarray(0, HEAD_BYTES);
  if (name.endsWith('.parquet')) {
    if (head.subarray(0, 4).toString('latin1') !== 'PAR1')
      throw invalid('The file does not begin as a Parquet file does.');
  } else if (head.includes(0))
    throw invalid('The file has bytes that no text has: save it as CSV, in UTF-8.');
}
