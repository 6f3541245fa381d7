/** A thread that compiles data models, one after the other; see `compiler.ts`. */

import { serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import {
  affectedMembers,
  compareModels,
  compileModel,
  type Model,
  memberNames,
  packModel,
} from '@oriel/semantic';
import { joinShared } from '../../platform/shared-bytes.ts';
import type { Meaning, Order, PackedReport } from './compiler.ts';

parentPort!.on('message', ({ files, wantsModel, before }: Order) => {
  const { model, errors, warnings, cubesCount } = compileModel(files);
  const meaning = model && before && meaningOf(model, before);
  const packed =
    wantsModel && model ? joinShared(Array.from(packModel(model), (part) => serialize(part))) : undefined;
  const report: PackedReport = { packed, meaning, errors, warnings, cubesCount };
  parentPort!.postMessage(report);
});

/** If the earlier model did not compile, everything in this one counts as new. */
function meaningOf(model: Model, before: ReadonlyMap<string, string>): Meaning {
  const old = compileModel(before).model ?? { cubes: new Map(), views: new Map() };
  const changes = compareModels(old, model);
  const names = [...model.cubes.keys(), ...model.views.keys()];
  return {
    changes,
    affected: new Set(affectedMembers(changes, model).keys()),
    members: new Set(names.flatMap((name) => memberNames(model, name).map((member) => `${name}.${member}`))),
  };
}
