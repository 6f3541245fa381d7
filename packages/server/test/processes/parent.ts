/** A process that supervises one child and prints the child's process id, so that a test can kill the parent. */
import { pino } from 'pino';
import { nodeProgram } from '../../src/platform/processes/program.ts';
import { supervise } from '../../src/platform/processes/supervise.ts';

const [script, noteStopIn] = process.argv.slice(2) as [string, string];
const child = await supervise({
  name: 'test child',
  program: nodeProgram(script),
  start: { noteStopIn },
  log: pino({ level: 'silent' }),
});
console.log(child.pid);
