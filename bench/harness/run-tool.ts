import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { undoAtEnd } from './undo.ts';

/** Runs a program to its end and returns its output. The program is killed if it takes too long, or when we stop. */
export async function runTool(command: string, args: string[], timeoutMs: number): Promise<string> {
  const child = spawn(command, args, { timeout: timeoutMs, killSignal: 'SIGKILL' });
  undoAtEnd(() => void child.kill());
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code, signal] = await once(child, 'close');
  if (code === 0) return output;
  const ended = signal ? `was ended by ${signal}` : `failed with code ${code}`;
  throw new Error(`${command} ${ended}:\n${(errors || output).trim()}`);
}
