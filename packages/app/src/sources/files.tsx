/** The files of a deployment: dropped or chosen, sent one after the other, and tables at once. */
import { useState } from 'preact/hooks';
import { shownTime } from '../console/parts/lists.ts';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { problemOf } from '../data/problem.ts';
import { uploadingClient } from '../data/upload.ts';
import { Failed, Skeleton, wordsOf } from '../parts/states.tsx';
import { confirm } from '../studio/confirm.tsx';
import { locale } from '../texts/index.ts';
import { say } from './say.ts';

interface FileUpload {
  name: string;
  /** From 0 to 1; undefined while it waits. */
  part?: number;
  table?: string;
  why?: string;
}

const BYTES_MAX = 1024 ** 3;

/** As the server takes it: what is no letter or digit of a simple name becomes `_`. */
export function storedName(name: string): string {
  const stored = name
    .normalize('NFKD')
    .replace(/\.(csv|parquet)$/i, (ending) => ending.toLowerCase())
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^[.-]+/, '_');
  // Of letters that are none of these, nothing is left to tell files apart by, so a number from the name does it.
  return /[A-Za-z0-9].*\./.test(stored) ? stored : stored.replace(/^_?/, `file_${checksum(name)}_`);
}

const checksum = (text: string) =>
  [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 1_000_003, 7);

/** The name of its table, as the engine compares it. */
const tableKey = (name: string) => name.replace(/\.\w+$/, '').toLowerCase();

export function Files({ deploymentId, mayChange }: { deploymentId: number; mayChange: boolean }) {
  const { data, problem, reload } = useData(`d/${deploymentId}/data-files`, async (signal) => {
    const { items } = await api.listDataFiles({ deploymentId, first: 1000 }, { signal });
    return items;
  });
  const [sending, setSending] = useState<readonly FileUpload[]>([]);
  const [isOver, setOver] = useState(false);
  const send = async (files: readonly File[]) => {
    setSending(files.map(({ name }) => ({ name: storedName(name) })));
    const taken = new Set<string>();
    const note = (i: number, next: Partial<FileUpload>) =>
      setSending((all) => all.map((one, n) => (n === i ? { ...one, ...next } : one)));
    for (const [i, file] of files.entries()) {
      const fileName = storedName(file.name);
      if (!/\.(csv|parquet)$/.test(fileName)) note(i, { why: say('fileKind') });
      else if (file.size > BYTES_MAX) note(i, { why: say('fileTooLarge') });
      else if (taken.has(tableKey(fileName))) note(i, { why: say('fileTwice') });
      else
        try {
          taken.add(tableKey(fileName));
          note(i, { part: 0 });
          const { table } = await uploadingClient((part) => note(i, { part })).uploadDataFile({
            deploymentId,
            fileName,
            body: { contentType: 'application/octet-stream', data: file },
          });
          note(i, { part: 1, table });
        } catch (error) {
          note(i, { why: wordsOf(problemOf(error)) });
        }
    }
    reload();
    invalidate(`d/${deploymentId}/tables`);
    invalidate(`d/${deploymentId}/sample`);
  };
  const isBusy = sending.some(({ table, why }) => !table && !why);
  const remove = (name: string, table: string) =>
    confirm(say('deleteFileOf', { name }), say('deleteFileHint', { table }), async () => {
      await api.deleteDataFile({ deploymentId, fileName: name });
      reload();
      invalidate(`d/${deploymentId}/tables`);
    });
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />;
  return (
    <section aria-labelledby="data-files" class="data-files">
      <h2 id="data-files">{say('files')}</h2>
      {mayChange && (
        <div
          class={isOver ? 'drop-place over' : 'drop-place'}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            if (!isBusy) void send([...(event.dataTransfer?.files ?? [])]);
          }}
        >
          <p class="soft">{say('filesHint')}</p>
          <label class="button">
            {say('chooseFiles')}
            <input
              class="hidden"
              type="file"
              multiple
              accept=".csv,.parquet"
              disabled={isBusy}
              onChange={(event) => {
                const { files } = event.currentTarget;
                if (files?.length) void send([...files]);
                event.currentTarget.value = '';
              }}
            />
          </label>
          <ul class="sending" aria-live="polite">
            {sending.map((one, i) => (
              <li key={`${i} ${one.name}`} class={one.why ? 'bad' : one.table ? 'good' : ''}>
                {wordsFor(one)}
                {one.part !== undefined && !one.table && !one.why && (
                  <progress value={one.part} max={1} aria-label={one.name} />
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {data.length === 0 ? (
        <p class="soft">{say('noFiles')}</p>
      ) : (
        <div class="console-table" role="region" aria-label={say('files')} tabIndex={0}>
          <table class="items stacked">
            <thead>
              <tr>
                <th scope="col">{say('fileName')}</th>
                <th scope="col">{say('tableName')}</th>
                <th scope="col" class="number wide-only">
                  {say('fileSize')}
                </th>
                <th scope="col" class="wide-only">
                  {say('fileChanged')}
                </th>
                {mayChange && (
                  <th scope="col" class="narrow">
                    <span class="hidden">{say('deleteFile')}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {data.map(({ name, table, size, changedAt }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td data-title={say('tableName')}>
                    <code>{table}</code>
                  </td>
                  <td class="number wide-only">{sizeOf(size)}</td>
                  <td class="wide-only">{shownTime(changedAt)}</td>
                  {mayChange && (
                    <td class="narrow">
                      <button
                        type="button"
                        class="quiet bad"
                        aria-label={say('deleteFileOf', { name })}
                        onClick={() => remove(name, table)}
                      >
                        {say('deleteFile')}
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const wordsFor = ({ name, part, table, why }: FileUpload) => {
  if (why) return say('uploadFailed', { name, why });
  if (table) return say('uploadedFile', { name, table });
  if (part === undefined) return say('waitingUpload', { name });
  return say('uploading', { name, percent: Math.floor(part * 100) });
};

const UNITS = [
  ['byte', 1],
  ['kilobyte', 1e3],
  ['megabyte', 1e6],
  ['gigabyte', 1e9],
] as const;

function sizeOf(bytes: number): string {
  const [unit, divisor] = UNITS.find(([, most]) => bytes < most * 1000) ?? UNITS.at(-1)!;
  const format = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(locale.value, format).format(bytes / divisor);
}
