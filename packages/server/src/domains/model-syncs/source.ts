/** Where the dbt project of a deployment comes from, and what a sync takes of it. */
import type { BodyOf, operations } from '@oriel/contract';
import { type DbtSettings, isSelector } from '@oriel/semantic';
import { ApiError, type Issue, invalid } from '../../platform/errors.ts';
import { isBranchName } from '../../platform/git/names.ts';
import { composed, normalRoot, pathProblem, rootProblem } from '../data-models/index.ts';
import { plainUrl, requireRepositoryName } from '../git-hosts/index.ts';

/** Either has a connection and a name, or an address. */
export interface RepositorySettings {
  installationId: number | null;
  name: string | null;
  url: string | null;
  username: string | null;
  branch: string | null;
  projectPath: string;
}

/** As it is stored. The token of an address is not among it. */
export interface SourceSettings {
  kind: 'manifest' | 'repository';
  /** Null for a manifest. Settings that were stored before there were repositories do not have it. */
  repository?: RepositorySettings | null;
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
  repository: null,
  namePrefix: '',
  select: [],
  outputFolder: 'model/cubes/dbt',
  includeSources: false,
  includeSeeds: false,
  includeSnapshots: false,
  targetSchema: null,
};

type Input = BodyOf<typeof operations.updateModelSyncSource>;

/** Throws if a setting is wrong. `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES. */
export function settingsOf({ kind, ...given }: Input, options: { allowPrivate: boolean }): SourceSettings {
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
    repository: repositoryOf(kind, given.repository ?? null, options),
    namePrefix: given.namePrefix ?? DEFAULTS.namePrefix,
    select,
    outputFolder,
    includeSources: given.includeSources ?? DEFAULTS.includeSources,
    includeSeeds: given.includeSeeds ?? DEFAULTS.includeSeeds,
    includeSnapshots: given.includeSnapshots ?? DEFAULTS.includeSnapshots,
    targetSchema,
  };
}

function repositoryOf(
  kind: SourceSettings['kind'],
  given: NonNullable<Input['repository']> | null,
  options: { allowPrivate: boolean },
): RepositorySettings | null {
  if (kind === 'manifest') {
    if (given) throw invalid('repository', 'is only for the kind `repository`');
    return null;
  }
  if (!given) throw invalid('repository', 'must be given for the kind `repository`');
  const { installationId = null, name = null, url = null, username = null, branch = null } = given;
  const projectPath = given.projectPath ?? '/';
  const problem = rootProblem(projectPath);
  if (problem) throw invalid('repository.projectPath', problem);
  if (branch !== null && !isBranchName(branch))
    throw invalid('repository.branch', 'must be a name that git accepts');
  const rest = { branch, projectPath: normalRoot(projectPath) };
  if (url !== null) {
    if (installationId !== null || name !== null)
      throw invalid('repository', 'must have either `url`, or `installationId` and `name`');
    return { installationId, name, url: plainUrl(url, 'repository.url', options), username, ...rest };
  }
  if (installationId === null || name === null)
    throw invalid('repository', 'must have either `url`, or `installationId` and `name`');
  if (username !== null || given.token != null)
    throw invalid('repository', 'takes `username` and `token` only with `url`: the connection has its own');
  requireRepositoryName(name, 'repository.name');
  return { installationId, name, url, username, ...rest };
}

/** `root` is the beginning of the paths of the project: `` or `folder/`. */
export const toDbtSettings = (
  { outputFolder, targetSchema, kind: _kind, repository: _repository, ...settings }: SourceSettings,
  root: string,
): DbtSettings => ({
  ...settings,
  folder: `${root}${outputFolder}`,
  targetSchema: targetSchema ?? undefined,
});
