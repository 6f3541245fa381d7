/** The mail server of the benchmark, which is another process, as it is another machine elsewhere. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../harness/paths.ts';
import { undoAtEnd } from '../harness/undo.ts';

export async function startMails() {
  const child = fork(join(root, 'bench', 'notifications', 'mail-sink.mjs'), { execArgv: [] });
  undoAtEnd(() => void child.kill());
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `smtp://127.0.0.1:${port}`,
    /** Resolves with the time when this many more messages were accepted. */
    async next(count: number): Promise<number> {
      const done = once(child, 'message');
      child.send(count);
      await done;
      return performance.now();
    },
  };
}
