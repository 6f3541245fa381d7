import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodeProgram, toSpawn } from './program.ts';

let folder: string;
let script: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oriel-program-'));
  script = join(folder, 'show.cjs');
  await writeFile(
    script,
    `const { readFileSync } = require('node:fs');
    const number = (file, pattern) => Number(pattern.exec(readFileSync(file, 'utf8'))[1]);
    const used = number('/proc/self/status', /VmData:\\s+(\\d+)/) * 1024;
    const limit = number('/proc/self/limits', /Max data size\\s+(\\d+)/);
    console.log((limit - used) / (1024 * 1024));`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.runIf(process.platform === 'linux')(
  'what Node reserves for its code is not taken from the memory that a program may have',
  () => {
    const { command, args, options } = toSpawn(nodeProgram(script, { limits: { dataMb: 300 } }));
    const { stdout } = spawnSync(command, args, { ...options, encoding: 'utf8' });
    const leftMb = Number(stdout);
    expect(leftMb).toBeGreaterThan(200);
    expect(leftMb).toBeLessThan(300);
  },
);
