/** A thread that reads the files of dbt, one task after the other; see `dbt-work.ts`. */
import { parentPort } from 'node:worker_threads';
import { answerDbtTask, type DbtTask } from './dbt-tasks.ts';

parentPort!.on('message', (task: DbtTask) => parentPort!.postMessage(answerDbtTask(task)));
