/** A thread that merges and compares texts; see `text-work.ts`. */
import { parentPort } from 'node:worker_threads';
import { answerTask, type TextTask } from './text-tasks.ts';

parentPort!.on('message', (task: TextTask & { steps: number }) => {
  parentPort!.postMessage(answerTask(task));
});
