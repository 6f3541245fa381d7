import type { Model, View } from '../model.ts';
import { QueryError } from './errors.ts';
import { type Hints, multiplies, pathBetween } from './paths.ts';

/**
 * The cube that rows come from: of a view, its root. Of cubes, if no measure decides it, the first one whose rows are not
 * multiplied by joining the others, or else the first one that all others can be joined to.
 */
export function homeOf(
  model: Model,
  view: View | undefined,
  paths: readonly (readonly string[])[],
  hints: Hints | undefined,
): readonly string[] {
  if (view) return [view.root];
  const ends = [...new Map(paths.map((path) => [path.join('.'), path])).values()];
  let usable: readonly string[] | undefined;
  let failure: QueryError | undefined;
  for (const home of ends) {
    try {
      if (!ends.some((end) => multiplies(model, pathBetween(model, home, end, hints)))) return home;
      usable ??= home;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      failure ??= error;
    }
  }
  if (usable) return usable;
  throw failure!;
}
