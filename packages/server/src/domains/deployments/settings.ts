/** The settings of a deployment: how they are shown, and what a change of them does. */
import { type BodyOf, limits, type operations, type ReplyOf } from '@oriel/contract';
import { ApiError, invalid } from '../../platform/errors.ts';
import { requireBytes } from '../../platform/limits.ts';
import { normalRoot, rootProblem } from '../data-models/index.ts';
import { requireRegion } from '../regions/index.ts';
import type { ChangeableSettings, DeploymentRow } from './store.ts';

export type SettingsInput = BodyOf<typeof operations.updateDeployment>;

/** Null clears these settings. All others always have a value, so null counts as absent. */
const CLEARABLE = new Set<string>([
  'creationMethod',
  'deployMode',
  'templateVariables',
  'releaseChannelVersion',
  'customDomain',
  'defaultLaunchpadViewGroup',
  'launchpadTabs',
  'cspsConfig',
] satisfies (keyof ChangeableSettings)[]);

/** Returns the settings after the change. */
export function mergeSettings<Row extends ChangeableSettings>(stored: Row, input: SettingsInput): Row {
  const given = Object.entries(input).filter(
    ([name, value]) => value !== undefined && (value !== null || CLEARABLE.has(name)),
  );
  const after = { ...stored, ...Object.fromEntries(given) };
  const root = input.deployProjectRoot;
  return root == null ? after : { ...after, deployProjectRoot: normalRoot(root) };
}

/** Throws a 400 for what can be refused without the database. */
export function checkSettings({ region, templateVariables, deployProjectRoot }: SettingsInput) {
  if (region != null) requireRegion(region);
  const problem = deployProjectRoot == null ? undefined : rootProblem(deployProjectRoot);
  if (problem) throw invalid('deployProjectRoot', problem);
  requireBytes('templateVariables', templateVariables, limits.templateVariables);
}

/** A version that is stored already may be sent back, even after an upgrade of the server. */
export function requireVersion(asked: string | null, stored: string | null, current: string) {
  if (asked === null || asked === stored || asked === current) return;
  const message = `There is no version ${JSON.stringify(asked)}; this installation has ${JSON.stringify(current)}.`;
  throw new ApiError('version_not_found', { message, issues: [{ path: 'releaseChannelVersion', message }] });
}

export function toSettings(
  row: DeploymentRow,
  deploymentUrl: string,
): ReplyOf<typeof operations.getDeploymentSettings> {
  const { createdBy: _, createdAt: _createdAt, updatedAt: _updatedAt, ...settings } = row;
  return {
    ...settings,
    deploymentUrl,
    // A deployment that is connected to a git host has its repository here too, and synchronizes it.
    repoType: 'deployRepo',
    autoDomain: null,
    isCold: false,
    isSqlApiEnabled: false,
    isSupportPreAggregations: false,
  };
}
