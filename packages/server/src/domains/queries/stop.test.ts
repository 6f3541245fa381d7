/** A server that has stopped does nothing more for queries. */
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createQueryApi, queries } from './index.ts';

test('the end of the threads and of the engines is waited for', async () => {
  const ended: string[] = [];
  const end = (what: string, ms: number) => async () => {
    await setTimeout(ms);
    ended.push(what);
  };
  await queries({ stop: end('threads', 30) } as never, { stop: end('engines', 1) } as never).stop!();
  expect(ended).toEqual(['threads', 'engines']);
});

test('the end of a model that is being warmed is waited for', async () => {
  let tell = (_subject: string) => {};
  let finish = (_tree: null) => {};
  const reading = new Promise<null>((resolve) => {
    finish = resolve;
  });
  const events: string[] = [];
  const platform = {
    createCache: () => ({ get: () => undefined, load: () => reading }),
    listener: {
      on(_: string, heard: typeof tell) {
        tell = heard;
      },
    },
    metrics: { gauge() {} },
    log: { warn() {} },
  };
  const api = createQueryApi(platform as never, { platform, dataDir: '', engines: {} } as never);
  api.started();
  tell('deployment:1');
  const stopped = api.stop().then(() => events.push('stopped'));
  await setTimeout(10);
  events.push('read');
  finish(null);
  await stopped;
  expect(events).toEqual(['read', 'stopped']);
});
