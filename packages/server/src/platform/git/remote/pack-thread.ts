/** A thread that reads and checks packs; see `receive.ts`. */
import { parentPort } from 'node:worker_threads';
import { answerPackTask, type PackTask } from './pack-tasks.ts';

parentPort!.on('message', (task: PackTask) => {
  parentPort!.postMessage(answerPackTask(task));
});
