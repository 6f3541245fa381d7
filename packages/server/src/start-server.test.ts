import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { startServer } from './start-server.ts';

test('metrics show the build, and a part that fails to stop is reported and does not keep the database running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-test-'));
  await chmod(folder, 0o711);
  try {
    const messages: string[] = [];
    const log = pino({ level: 'error' }, { write: (line) => void messages.push(JSON.parse(line).msg) });
    const config = readConfig({ ORIEL_PORT: '0', ORIEL_DATA_DIR: join(folder, 'data'), ORIEL_DEMO: 'false' });
    const server = await startServer(config, log);
    const postmaster = join(folder, 'data/postgres/postmaster.pid');
    expect(existsSync(postmaster)).toBe(true);

    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(
      new RegExp(
        `^oriel_build_info\\{version="[\\d.]+",schema_version="\\d+",address="${server.url}",.*\\} 1$`,
        'm',
      ),
    );

    // A pool cannot be ended twice.
    await server.db.end();
    await expect(server.stop()).rejects.toThrow('could not stop the connections for content');
    expect(messages).toContain('could not stop the connections for content');
    expect(existsSync(postmaster)).toBe(false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
