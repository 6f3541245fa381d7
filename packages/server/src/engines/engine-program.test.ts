import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_SERVERS } from '../../test/engines.ts';
import { isRoot } from '../platform/processes/process-user.ts';
import { createEngines, type Engines } from './engines.ts';

const server = join(import.meta.dirname, '../..');
/** Where Oriel is installed: only root can enter it. */
let home: string;
let dataDir: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'oriel-private-'));
  await cp(join(server, 'dist'), join(home, 'dist'), { recursive: true });
  await cp(join(server, 'package.json'), join(home, 'package.json'));
  await symlink(join(server, '../../node_modules'), join(home, 'node_modules'));
  await symlink(process.execPath, join(home, 'node'));
  dataDir = await mkdtemp(join(tmpdir(), 'oriel-data-'));
  await chmod(dataDir, 0o711);
  await mkdir(join(dataDir, 'files/1'), { recursive: true });
  await writeFile(join(dataDir, 'files/1/orders.csv'), 'id\n7\n');
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
});

const start = (node?: string) =>
  createEngines({
    script: join(home, 'dist/engine.js'),
    node,
    dataDir,
    ...NO_SERVERS,
    log: pino({ level: 'silent' }),
  });

async function ask(engines: Engines): Promise<string> {
  try {
    const answer = await engines
      .of(1, { name: 'default', type: 'duckdb' })
      .query({ sql: 'select id from files.orders' }, { timeoutMs: 120_000 });
    const pieces: Buffer[] = [];
    for await (const piece of answer.rows) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  } finally {
    await engines.stop();
  }
}

const ANSWER = '[{"id":"7"}]';
const copies = () => readdirSync(dataDir).filter((name) => name !== 'files');

test.runIf(isRoot())(
  'engines start where only root can enter, from copies that are made if needed',
  async () => {
    const node = join(home, 'node');
    // At the same time, as two servers with one data dir would.
    expect(await Promise.all([start(node), start(node)].map(ask))).toEqual([ANSWER, ANSWER]);
    expect(copies()).toEqual([
      expect.stringMatching(/^engine-[\d.]+[^/]*$/),
      expect.stringMatching(/^node-v[\d.]+$/),
    ]);
    const [engine] = copies();
    const modules = readdirSync(join(dataDir, engine!, 'node_modules'));
    expect(modules.filter((name) => !['@duckdb', 'detect-libc'].includes(name))).toEqual([]);

    // A copy is used again, and made again if it is not complete.
    const driver = join(dataDir, engine!, 'node_modules/@duckdb/node-api/package.json');
    const { ino } = statSync(driver);
    expect(await ask(start())).toBe(ANSWER);
    expect(statSync(driver).ino).toBe(ino);
    rmSync(driver);
    rmSync(join(dataDir, engine!, 'complete'));
    expect(await ask(start())).toBe(ANSWER);
    expect(statSync(driver).size).toBeGreaterThan(0);

    // What the user of the engines can reach is not copied.
    await chmod(home, 0o755);
    // The installed packages may be in a folder that only root can enter, so the copied ones are installed here.
    rmSync(join(home, 'node_modules'));
    renameSync(join(dataDir, engine!, 'node_modules'), join(home, 'node_modules'));
    for (const name of copies()) rmSync(join(dataDir, name), { recursive: true });
    expect(await ask(start())).toBe(ANSWER);
    expect(copies()).toEqual([]);
  },
);
