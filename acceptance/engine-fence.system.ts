/** What a server says at its start if its engines can have no fence. */
import { afterAll, expect, test } from 'vitest';
import { cleanUp, MAIN, ready, spawnServer, stop, until, usedDataDir } from './server-process.ts';

afterAll(cleanUp);

/** Runs the server where bubblewrap is a program that fails, as bubblewrap does in many containers. */
const WITHOUT_FENCE = `
  if test -e /usr/bin/bwrap; then mount --bind /bin/false /usr/bin/bwrap || exit 1; fi
  exec "$0" "$@"`;

test.runIf(process.getuid?.() === 0)(
  'a server whose engines can have no fence says so at its start, before any query',
  async () => {
    const server = await ready(
      spawnServer(await usedDataDir(), {}, [
        ...(['unshare', '--mount', 'sh', '-c', WITHOUT_FENCE] as const),
        ...[process.execPath, MAIN],
      ]),
    );
    const notices = () =>
      server.stdout.split('\n').filter((line) => line.includes('"engines run without a sandbox"'));
    await until('the server says so', () => notices().length > 0);
    expect(JSON.parse(notices()[0]!)).toMatchObject({
      level: 40,
      reason: expect.stringMatching(/bubblewrap.*docs\/operating\.md, "Engines"/),
    });
    expect(await stop(server)).toEqual({ code: 0, signal: null });
    expect(notices()).toHaveLength(1);
  },
);
