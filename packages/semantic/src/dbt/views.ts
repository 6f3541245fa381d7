/** Saved queries of dbt as views: the metrics and dimensions that belong together. */
import { takeName } from '../drafts/names.ts';
import { type AddNote, prefixed } from './cubes.ts';
import { filterTexts, referenceOf } from './filters.ts';
import { type Fields, fields, text, texts } from './json.ts';
import type { Metrics } from './metrics.ts';
import { referTo, type SemanticModel } from './semantic-models.ts';
import type { DbtSettings } from './settings.ts';
import { NotExpressibleError } from './sql.ts';
import { descriptionOf, titleOf, withoutUndefined } from './yaml-text.ts';

export interface ViewPlan {
  readonly id: string;
  readonly name: string;
  readonly view: object;
}

interface ViewOptions {
  readonly metrics: Metrics;
  readonly models: readonly SemanticModel[];
  readonly settings: DbtSettings;
  readonly taken: Set<string>;
  readonly note: AddNote;
}

export function planViews(queries: readonly Fields[], options: ViewOptions): ViewPlan[] {
  return queries.flatMap((query) => {
    const id = String(query.unique_id);
    try {
      const name = text(query.name) ?? id;
      const cubes = cubesOf(fields(query.query_params), options);
      const free = takeName(prefixed(options.settings.namePrefix, name), options.taken);
      const described = {
        title: titleOf(text(query.label)),
        description: descriptionOf(text(query.description)),
      };
      return [{ id, name: free, view: withoutUndefined({ name: free, ...described, cubes }) }];
    } catch (error) {
      if (!(error instanceof NotExpressibleError)) throw error;
      options.note('left_out', id, `The saved query: ${error.message}.`);
      return [];
    }
  });
}

/** All metrics must be of one cube, whose rows the view is about. */
function cubesOf(query: Fields, { metrics, models }: ViewOptions): object[] {
  if (filterTexts(query.where).length) throw new NotExpressibleError('a view has no filter (`where`)');
  const found = texts(query.metrics).map((name) => {
    const metric = metrics.find(name);
    if (metric instanceof NotExpressibleError)
      throw new NotExpressibleError(`it needs \`${name}\`, and ${metric.message}`);
    return metric;
  });
  const from = found[0]?.model;
  if (!from) throw new NotExpressibleError('it has no metric');
  if (found.some(({ model }) => model.members.cube !== from.members.cube))
    throw new NotExpressibleError('its metrics are of several cubes, and a view is about the rows of one');
  const included = new Map<string, Set<string>>([
    [from.members.cube.name, new Set(found.map(({ member }) => member))],
  ]);
  for (const group of texts(query.group_by)) {
    const call = /\(/.test(group) ? referenceOf(group, { from, models }) : undefined;
    if (call?.what === 'Entity') throw new NotExpressibleError('it is grouped by an entity');
    // Steps of time are chosen by each query.
    const { path, member } = referTo(call?.name ?? group, {
      from,
      models,
      along: call?.along,
      grain: call?.grain,
    });
    const joinPath = path.join('.');
    if (!included.has(joinPath)) included.set(joinPath, new Set());
    included.get(joinPath)!.add(member);
  }
  const names = [...included.values()].flatMap((members) => [...members]);
  if (new Set(names).size < names.length)
    throw new NotExpressibleError('two of its members have the same name');
  return [...included].map(([joinPath, members]) => ({ join_path: joinPath, includes: [...members] }));
}
