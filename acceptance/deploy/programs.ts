/** Programs of Debian beside a real server: reads the samples of deploy/, runs programs, and stops them. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const root = join(import.meta.dirname, '../..');
export const sample = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');

/** Replaces a text that must be there, so that a test notices when the sample no longer has it. */
export function replaced(text: string, changes: Record<string, string>): string {
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`the sample has no ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Program {
  output: string;
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** Starts a program that keeps running. */
export function start(command: string, args: string[], env: Record<string, string> = {}): Program {
  const child = spawn(command, args, { stdio: 'pipe', env: { PATH: process.env.PATH, ...env } });
  const ended = once(child, 'close');
  running.add(child);
  const program: Program = {
    output: '',
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      running.delete(child);
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      program.output += text;
    });
  }
  return program;
}

const execute = promisify(execFile);

/** Returns the output of a program that ends. If it fails, so does this, with the output. */
export async function outputOf(command: string, ...args: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await execute(command, args, { cwd: root, maxBuffer: 2 ** 26 });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
