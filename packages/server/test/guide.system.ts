/** Follows docs/adding-an-operation.md in a copy of the project. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { copyProject } from '../../../scripts/copy-project.ts';

const root = join(import.meta.dirname, '../../..');
const guide = readFileSync(join(root, 'docs/adding-an-operation.md'), 'utf8');
/** Each test runs several programs, so the limit allows for a busy machine. */
const TIMEOUT_MS = 30 * 60_000;

let copy: string;
beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'oriel-guide-'));
  copyProject(root, copy);
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-qm', 'before');
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const git = (...args: string[]) =>
  run('git', ['-c', 'user.name=guide', '-c', 'user.email=guide@example.com', ...args]);

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill();
});

async function run(program: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(program, args, {
    cwd: copy,
    // It runs tests of its own, also where this test is one of `npm run test:system`.
    env: { ...process.env, ORIEL_TEST_SYSTEM: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  running.delete(child);
  if (status !== 0)
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`.slice(-6000));
  return stripVTControlCharacters(stdout);
}

const installed = (program: string) => join(copy, 'node_modules', '.bin', program);
const tsx = (...args: string[]) => run(installed('tsx'), args);

interface Block {
  file: string;
  language: string;
  text: string;
}

/** Each block whose paragraph names a file of the project; if it names several, the last one counts. */
const blocks: Block[] = [...guide.matchAll(/((?:^.+\n)+)\n```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(
  ([, paragraph, language, text]) => {
    const file = [...paragraph!.matchAll(/`(packages\/[^`<]+\.(?:ts|sql))`/g)].at(-1)?.[1];
    return file ? [{ file, language: language!, text: text! }] : [];
  },
);

/** Inserts each line with a plus after, or before, the neighbouring line without a plus. */
function applyDiff(file: string, diff: string) {
  let lines = readFileSync(file, 'utf8').split('\n');
  const given = diff.trimEnd().split('\n');
  for (const [i, line] of given.entries()) {
    if (!line.startsWith('+')) continue;
    const [anchor, offset] = given[i + 1]?.startsWith(' import') ? [given[i + 1]!, 0] : [given[i - 1]!, 1];
    const at = lines.indexOf(anchor.slice(1));
    if (at < 0) throw new Error(`${file} has no line ${anchor}`);
    lines = lines.toSpliced(at + offset, 0, line.slice(1));
  }
  writeFileSync(file, lines.join('\n'));
}

const nextMigration = () =>
  String(readdirSync(join(copy, 'packages/server/migrations')).length + 1).padStart(4, '0');

function write({ file, language, text: content }: Block) {
  const path = join(copy, file.replace('NNNN', nextMigration()));
  if (language === 'diff') return applyDiff(path, content);
  expect(existsSync(path), `${file} is new`).toBe(false);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const changedFiles = async () => (await run('git', ['diff', '--name-only'])).trim().split('\n');

/** An operation without a handler stops the start, before anything is created. */
async function expectNoStart() {
  const dataDir = join(copy, 'draft');
  const env = { ORIEL_DATA_DIR: dataDir, ORIEL_DATABASE_URL: '', ORIEL_PORT: '0' };
  const start = run(installed('tsx'), ['packages/server/src/main.ts'], env);
  await expect(start).rejects.toThrow(
    /^There is no handler for listAnnouncements, .*packages\/server\/src\/app\.ts/m,
  );
  expect(existsSync(dataDir)).toBe(false);
}

test('the guide names the files of a domain', () => {
  expect(blocks.map(({ file }) => file.replace(/^.*\//, ''))).toEqual([
    'announcements.ts',
    'NNNN-announcements.sql',
    'tables.ts',
    'cleanup.store.ts',
    'store.ts',
    'routes.ts',
    'index.ts',
    'app.ts',
    'announcements.test.ts',
    'reference-examples.test.ts',
  ]);
});

/** The files of tests that look at every operation, table or file. */
const CHECKS = [
  'migrations',
  'architecture',
  'generated',
  'cleanup',
  'lists',
  'permissions',
  'reference-examples',
  'reference-descriptions',
  'table-owners',
];

test('the example of the guide is a working domain', { timeout: TIMEOUT_MS }, async () => {
  const [contract, ...others] = blocks;
  write(contract!);
  await tsx('scripts/generate.ts');
  const generated = await changedFiles();
  await expectNoStart();

  for (const block of others) write(block);
  const byHand = (await changedFiles()).filter((file) => !generated.includes(file));
  expect(byHand).toEqual(['packages/server/src/app.ts', 'packages/server/test/reference-examples.test.ts']);
  // In one thread, which needs less than half of the work of several.
  await run(installed('tsc'), ['--noEmit', '--singleThreaded']);
  const written = (await run('git', ['ls-files', '--modified', '--others', '--exclude-standard', '*.ts']))
    .trim()
    .split('\n');
  await run(installed('biome'), ['check', '--error-on-warnings', ...written]);
  const database = { ORIEL_TEST_DATABASE_URL: inject('postgresUrl') };
  // In one run, because each run first builds the server, collects the row types and migrates a database. `--update`
  // writes schema.sql, as `npm run update-schema` does, and changes nothing else.
  const output = await run(
    installed('vitest'),
    [
      'run',
      '--maxWorkers=1',
      'packages/server/src/domains/announcements',
      ...CHECKS.map((name) => `packages/server/test/${name}.test.ts`),
      '--update',
      '-t',
      'nnouncement|taken back|make the schema|import|owner|cleanup of all|npm run generate|sentence',
    ],
    database,
  );
  expect(output).toMatch(/announcements\.test\.ts \(3 tests\)/);
  expect(output).toMatch(/reference-descriptions\.test\.ts \(\d+ tests/);
  expect(await changedFiles()).toContain('packages/server/schema.sql');
});
