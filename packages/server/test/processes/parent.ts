/**
 * A process that supervises one child and prints the child's process id, so that a test can kill the parent. With the
 * argument `exit` it ends without stopping its child. Without arguments it supervises a child that closed its output,
 * stops it, and says so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { nodeProgram } from '../../src/platform/processes/program.ts';
import { supervise } from '../../src/platform/processes/supervise.ts';

const [script, noteStopIn] = process.argv.slice(2);
const log = pino({ level: 'silent' });

if (script === 'exit') {
  const child = await supervise({
    name: 'child without a pipe',
    program: { command: '/bin/sleep', args: ['600'], env: {} },
    isReady: async () => {},
    signalAtExit: 'SIGINT',
    log,
  });
  console.log(child.pid);
  process.exit(1);
} else if (script) {
  const child = await supervise({
    name: 'test child',
    program: nodeProgram(script),
    start: { noteStopIn },
    log,
  });
  console.log(child.pid);
} else {
  const child = await supervise({
    name: 'silent child',
    program: { command: '/bin/sh', args: ['-c', 'exec >&- 2>&-; exec sleep 600'], env: {} },
    // Waits until the output is closed.
    isReady: () => sleep(300),
    log,
  });
  await child.stop();
  console.log('stopped');
}
