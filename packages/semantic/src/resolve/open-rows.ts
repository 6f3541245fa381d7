/** Warns about cubes whose rows are open although those of a cube beside them are not. */
import { listed, type Problems } from '../problems.ts';
import type { Graph } from './graph.ts';
import type { Names } from './names.ts';

const WARNINGS_MAX = 20;
const NAMED_MAX = 3;
const NO_POLICY = 'No cube or view has an `access_policy`: embed viewers see nothing.';

/** Policies of a cube guard its own rows, and those of others only in queries that join it. */
export function warnOfOpenRows(names: Names, { edges }: Graph, warnings: Problems) {
  const owners = [...[...names.cubes.values()].map(({ raw }) => raw), ...names.views.values()];
  const [first] = names.cubes.values();
  if (first && owners.every(({ access_policy }) => access_policy === undefined)) {
    const hint =
      'Give a policy to each cube that they shall see. `group: "*"` with `row_level: { allow_all: true }` opens all its rows.';
    warnings.add(first.raw.name.spot, 'no_access_policy', NO_POLICY, hint);
  }
  const isGuarded = (cube: string) => names.cubes.get(cube)!.raw.access_policy !== undefined;
  let count = 0;
  for (const [name, { raw }] of names.cubes) {
    const guarded = isGuarded(name) ? [] : [...edges.get(name)!.keys()].filter(isGuarded);
    if (!guarded.length) continue;
    if (++count > WARNINGS_MAX) return;
    const message = `\`${name}\` has no \`access_policy\`: people who may query the deployment see all its rows as long as the query does not join ${listed(guarded.slice(0, NAMED_MAX))}, and embed viewers see nothing of it.`;
    const hint =
      'Give it a policy too. `group: "*"` with `row_level: { allow_all: true }` says that everybody may see its rows.';
    warnings.add(raw.name.spot, 'no_access_policy', message, hint);
  }
}
