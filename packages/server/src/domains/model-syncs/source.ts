/** Where the dbt project of a deployment comes from, and what a sync takes of it. */
import type { BodyOf, operations } from '@oriel/contract';
import { type DbtSettings, isSelector } from '@oriel/semantic';
import { ApiError, type Issue, invalid } from '../../platform/errors.ts';
import { composed, pathProblem } from '../data-models/index.ts';

/** As it is stored. Another kind has fields of its own beside these. */
export interface SourceSettings {
  kind: 'manifest';
  namePrefix: string;
  select: string[];
  outputFolder: string;
  includeSources: boolean;
  includeSeeds: boolean;
  includeSnapshots: boolean;
  targetSchema: string | null;
}

export const DEFAULTS: SourceSettings = {
  kind: 'manifest',
  namePrefix: '',
  select: [],
  outputFolder: 'model/cubes/dbt',
  includeSources: false,
  includeSeeds: false,
  includeSnapshots: false,
  targetSchema: null,
};

type Input = BodyOf<typeof operations.updateModelSyncSource>;

/** Throws if a setting is wrong, or of a kind that is not built yet. */
export function settingsOf({ kind, ...given }: Input): SourceSettings {
  if (kind !== 'manifest') throw new ApiError('model_sync_source_unavailable');
  const outputFolder = composed(given.outputFolder ?? DEFAULTS.outputFolder).replace(/^\/+|\/+$/g, '');
  const problem = outputFolder === '' ? 'must name a folder' : pathProblem(`${outputFolder}/x.yml`);
  if (problem) throw invalid('outputFolder', problem);
  const targetSchema = given.targetSchema ?? null;
  if (targetSchema !== null && /["`\\\p{Cc}]/u.test(targetSchema))
    throw invalid('targetSchema', 'must not have quotes, backslashes or control characters');
  const select = given.select ?? DEFAULTS.select;
  const issues: Issue[] = select.flatMap((selector, i) =>
    isSelector(selector)
      ? []
      : [
          {
            path: `select[${i}]`,
            message: 'must be `tag:…`, `path:…`, `package:…` or a name, without operators of dbt such as +',
          },
        ],
  );
  const [first] = issues;
  if (first) throw new ApiError('invalid_request', { message: `${first.path}: ${first.message}`, issues });
  return {
    kind,
    namePrefix: given.namePrefix ?? DEFAULTS.namePrefix,
    select,
    outputFolder,
    includeSources: given.includeSources ?? DEFAULTS.includeSources,
    includeSeeds: given.includeSeeds ?? DEFAULTS.includeSeeds,
    includeSnapshots: given.includeSnapshots ?? DEFAULTS.includeSnapshots,
    targetSchema,
  };
}

/** `root` is the beginning of the paths of the project: `` or `folder/`. */
export const toDbtSettings = (
  { outputFolder, targetSchema, ...settings }: SourceSettings,
  root: string,
): DbtSettings => ({
  ...settings,
  folder: `${root}${outputFolder}`,
  targetSchema: targetSchema ?? undefined,
});
