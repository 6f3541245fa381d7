/** A thread that compiles data models, one after the other; see `compiler.ts`. */

import { serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { compileModel, packModel } from '@oriel/semantic';
import { joinShared } from '../../platform/shared-bytes.ts';
import type { Order, Packed } from './compiler.ts';

parentPort!.on('message', ({ files, wantsModel }: Order) => {
  const { model, errors, warnings, cubesCount } = compileModel(files);
  const packed =
    wantsModel && model ? joinShared(Array.from(packModel(model), (part) => serialize(part))) : undefined;
  const report: Packed = { packed, errors, warnings, cubesCount };
  parentPort!.postMessage(report);
});
