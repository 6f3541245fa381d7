/** A thread that compiles data models, one after the other; see `compiler.ts`. */
import { parentPort } from 'node:worker_threads';
import { compileModel } from '@oriel/semantic';
import type { Order, Report } from './compiler.ts';

parentPort!.on('message', ({ files, wantsModel }: Order) => {
  const { model, errors, warnings, cubesCount } = compileModel(files);
  const report: Report = { model: wantsModel ? model : undefined, errors, warnings, cubesCount };
  parentPort!.postMessage(report);
});
