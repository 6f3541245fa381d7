import type { operations, ReplyOf } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

type Settings = ReplyOf<typeof operations.getDeploymentSettings>;
export type CreationStep = ReplyOf<typeof operations.getDeployment>['creationStep'];

/** What `updateDeployment` can change. */
export interface ChangeableSettings {
  name: string;
  region: string;
  cloudProvider: Settings['cloudProvider'];
  creationMethod: NonNullable<Settings['creationMethod']> | null;
  deployMode: NonNullable<Settings['deployMode']> | null;
  deployBranchName: string;
  deployBranchReadOnly: boolean;
  deployBranchMergeAllowed: boolean;
  deployProjectRoot: string;
  template: Settings['template'];
  templateVariables: object | null;
  releaseChannel: Settings['releaseChannel'];
  releaseChannelVersion: string | null;
  releaseChannelVersionHold: boolean;
  customDomain: string | null;
  defaultLaunchpadViewGroup: string | null;
  launchpadTabs: string[] | null;
  cspsConfig: NonNullable<Settings['cspsConfig']> | null;
}

export interface DeploymentRow extends ChangeableSettings {
  id: number;
  creationStep: CreationStep;
  isManaged: boolean;
  targetPlatform: string;
  isDemo: boolean;
  createdBy: number | null;
  createdAt: string;
  updatedAt: string;
}

export type NewDeployment = Pick<
  DeploymentRow,
  | 'name'
  | 'region'
  | 'cloudProvider'
  | 'creationMethod'
  | 'creationStep'
  | 'deployMode'
  | 'isManaged'
  | 'targetPlatform'
  | 'createdBy'
> & { isDemo?: boolean };

const COLUMNS = sql`
  id, name, region, cloud_provider as "cloudProvider", creation_method as "creationMethod",
  creation_step as "creationStep", deploy_mode as "deployMode", is_managed as "isManaged",
  target_platform as "targetPlatform", deploy_branch_name as "deployBranchName",
  deploy_branch_read_only as "deployBranchReadOnly", deploy_branch_merge_allowed as "deployBranchMergeAllowed",
  deploy_project_root as "deployProjectRoot", template, template_variables as "templateVariables",
  release_channel as "releaseChannel", release_channel_version as "releaseChannelVersion",
  release_channel_version_hold as "releaseChannelVersionHold", custom_domain as "customDomain",
  default_launchpad_view_group as "defaultLaunchpadViewGroup", launchpad_tabs as "launchpadTabs",
  csps_config as "cspsConfig", is_demo as "isDemo",
  created_by as "createdBy", created_at as "createdAt", updated_at as "updatedAt"`;

export interface DeploymentFilter {
  /** The deployments that the caller may read; null for all. */
  reach: readonly number[] | null;
  creationSteps: CreationStep[] | null;
}

const matching = ({ reach, creationSteps }: DeploymentFilter): Sql => sql`
  (${reach}::bigint[] is null or id = any(${reach}::bigint[]))
  and (${creationSteps}::text[] is null or creation_step = any(${creationSteps}::text[]))`;

/** What a list shows of a deployment. */
export type ListedDeployment = Pick<DeploymentRow, 'id' | 'name' | 'creationStep' | 'isDemo'>;

/** In the order of their ids, after `afterId`. */
export const listDeployments = (
  db: Queryable,
  filter: DeploymentFilter,
  page: PageById & { offset: number },
) =>
  db.many<ListedDeployment>(sql`
    select id, name, creation_step as "creationStep", is_demo as "isDemo" from deployments
    where ${matching(filter)} and id > ${page.afterId}
    order by id limit ${page.limit} offset ${page.offset}`);

export const countDeployments = async (db: Queryable, filter: DeploymentFilter) =>
  (await db.one<{ count: number }>(sql`select count(*) from deployments where ${matching(filter)}`)).count;

export const findDeployment = (db: Queryable, id: number) =>
  db.maybeOne<DeploymentRow>(sql`select ${COLUMNS} from deployments where id = ${id}`);

/** Locks the deployment: no other transaction can change or delete it until this one ends. */
export const lockDeployment = (tx: Tx, id: number) =>
  tx.maybeOne<DeploymentRow>(sql`select ${COLUMNS} from deployments where id = ${id} for no key update`);

/** Returns those of the ids that exist. */
export const listExistingIds = async (db: Queryable, ids: readonly number[]) =>
  (await db.many<{ id: number }>(sql`select id from deployments where id = any(${ids}::bigint[])`)).map(
    ({ id }) => id,
  );

/** Locks the creation of deployments until the transaction ends, so that the limit is exact. */
export const lockCreation = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('creation of deployments', 0))`);

export const insertDeployment = (tx: Tx, deployment: NewDeployment) =>
  tx.one<DeploymentRow>(sql`
    insert into deployments (name, region, cloud_provider, creation_method, creation_step, deploy_mode, is_managed,
                             target_platform, created_by, is_demo)
    values (${deployment.name}, ${deployment.region}, ${deployment.cloudProvider}, ${deployment.creationMethod},
            ${deployment.creationStep}, ${deployment.deployMode}, ${deployment.isManaged},
            ${deployment.targetPlatform}, ${deployment.createdBy}, ${deployment.isDemo ?? false})
    returning ${COLUMNS}`);

export const updateDeployment = (tx: Tx, id: number, settings: ChangeableSettings) =>
  tx.one<DeploymentRow>(sql`
    update deployments
    set name = ${settings.name}, region = ${settings.region}, cloud_provider = ${settings.cloudProvider},
        creation_method = ${settings.creationMethod}, deploy_mode = ${settings.deployMode},
        deploy_branch_name = ${settings.deployBranchName}, deploy_branch_read_only = ${settings.deployBranchReadOnly},
        deploy_branch_merge_allowed = ${settings.deployBranchMergeAllowed},
        deploy_project_root = ${settings.deployProjectRoot}, template = ${settings.template},
        template_variables = ${json(settings.templateVariables)}, release_channel = ${settings.releaseChannel},
        release_channel_version = ${settings.releaseChannelVersion},
        release_channel_version_hold = ${settings.releaseChannelVersionHold},
        custom_domain = ${settings.customDomain},
        default_launchpad_view_group = ${settings.defaultLaunchpadViewGroup},
        launchpad_tabs = ${settings.launchpadTabs}, csps_config = ${json(settings.cspsConfig)}, updated_at = now()
    where id = ${id} returning ${COLUMNS}`);

/** Sets the source of a deployment whose model is in a repository from now on. */
export const updateSource = (
  tx: Tx,
  id: number,
  source: Pick<ChangeableSettings, 'deployBranchName' | 'deployProjectRoot'>,
) =>
  tx.one<DeploymentRow>(sql`
    update deployments
    set creation_method = 'git-host', deploy_mode = 'git', deploy_branch_name = ${source.deployBranchName},
        deploy_project_root = ${source.deployProjectRoot}, updated_at = now()
    where id = ${id} returning ${COLUMNS}`);

export const updateCreationStep = (tx: Tx, id: number, creationStep: CreationStep) =>
  tx.one<DeploymentRow>(sql`
    update deployments set creation_step = ${creationStep}, updated_at = now() where id = ${id} returning ${COLUMNS}`);

/** Nobody can see the content of the deployment from now on. A job removes it later. */
export const deleteDeployment = (tx: Tx, id: number) =>
  tx.maybeOne<DeploymentRow>(sql`delete from deployments where id = ${id} returning ${COLUMNS}`);

export const findDemo = (db: Queryable) =>
  db.maybeOne<DeploymentRow>(sql`select ${COLUMNS} from deployments where is_demo order by id limit 1`);

export const countAllDeployments = async (db: Queryable) =>
  (await db.one<{ count: number }>(sql`select count(*) from deployments`)).count;

/** The next deployment gets the id 1, even after attempts that were rolled back. The table must be empty. */
export const restartDeploymentIds = (tx: Tx) =>
  tx.run(sql`select setval(pg_get_serial_sequence('deployments', 'id'), 1, false)`);
