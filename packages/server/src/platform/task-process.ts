/**
 * A process that is used like a thread, for scripts whose failure would end all threads: V8 aborts a process that asks for
 * too large a piece of memory at once, and native code cannot be ended by `terminate`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/** How the process of V8 ends when there is no memory left. */
const OUT_OF_MEMORY = ['SIGABRT', 'SIGTRAP', 'SIGILL'];

/** Emits what a worker does: `message`, `error` and `exit`. */
export class TaskProcess extends EventEmitter {
  readonly #child: ChildProcess;

  constructor(script: URL, { memoryMb, niceness }: { memoryMb: number; niceness: number }) {
    super();
    this.#child = fork(fileURLToPath(script), {
      env: {},
      execArgv: [`--max-old-space-size=${memoryMb}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    try {
      setPriority(this.pid!, niceness);
    } catch {
      // It has ended already, which its exit tells.
    }
    this.#child.on('message', (message) => this.emit('message', message));
    this.#child.on('error', (error) => this.#fail(error));
    this.#child.on('exit', (code, signal) => {
      if (OUT_OF_MEMORY.includes(signal ?? ''))
        this.#fail(Object.assign(new Error('no memory is left'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }));
      else this.emit('exit', code ?? signal);
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  #fail(error: Error) {
    if (this.listenerCount('error')) this.emit('error', error);
  }

  postMessage(message: unknown) {
    this.#child.send(message as object, (error) => error && this.#fail(error));
  }

  async terminate() {
    const { exitCode, signalCode, pid } = this.#child;
    if (exitCode !== null || signalCode !== null || pid === undefined) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  ref() {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  unref() {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}

/** Looks from a thread of its own, so that it also ends a process that is busy. */
const END_WITH_PARENT = `
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1000);`;

/** For the script of a `TaskProcess`: answers each message with one message, until the parent is gone. */
export function answerTasks<Task, Answer>(work: (task: Task) => Promise<Answer>) {
  new Worker(END_WITH_PARENT, { eval: true }).unref();
  process.on('disconnect', () => process.exit());
  process.on('message', async (task: Task) => process.send!(await work(task)));
}
