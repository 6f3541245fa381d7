import { type Action, actions } from '@oriel/contract';
import { type Level, levelOf, NONE, type Noun } from '../access/index.ts';

export type ResourceType = 'Deployment' | 'Dashboard' | Noun;

/** A dashboard takes the actions of workbooks. */
const nounOf = (type: Exclude<ResourceType, 'Deployment'>): Noun =>
  type === 'Dashboard' ? 'Workbook' : type;

/** Actions on the whole account, which cannot be given on one deployment. */
const ACCOUNT_WIDE: ReadonlySet<Action> = new Set([
  'All',
  'DeploymentsManage',
  'DeploymentCreate',
  'AuditLogManage',
  'BillingRead',
  'OAuthIntegrationsManage',
  'OAuthIntegrationsIssueTokens',
  'AgentAdmin',
  'ChartPalettesManage',
  'DashboardThemesManage',
] satisfies Action[]);

export const applicableActions = (type: ResourceType): Action[] =>
  actions.filter((action) =>
    type === 'Deployment' ? !ACCOUNT_WIDE.has(action) : levelOf(nounOf(type), action) > NONE,
  );

export const policyLevel = (type: ResourceType, action: Action): Level =>
  type === 'Deployment' ? NONE : levelOf(nounOf(type), action);
