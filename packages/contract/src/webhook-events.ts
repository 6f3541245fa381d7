/** What webhooks can be told of: a resource, and what happened to it. */
const RESOURCES = {
  api_key: ['created', 'updated', 'deleted'],
  app_config: ['updated'],
  branch: ['created', 'updated', 'deleted'],
  build: ['succeeded', 'failed', 'cancelled'],
  dashboard: ['published', 'updated'],
  deployment: ['created', 'updated', 'deleted'],
  embed_group: ['created', 'updated', 'deleted'],
  embed_session: ['revoked'],
  embed_tenant: ['deleted'],
  env_variable: ['created', 'updated', 'deleted'],
  folder: ['created', 'updated', 'deleted'],
  git_connection: ['created', 'deleted', 'failed', 'diverged', 'rewritten'],
  model_sync: ['completed', 'failed'],
  notification: ['created', 'updated', 'deleted', 'failed'],
  oauth_token: ['failed'],
  oidc_token_config: ['created', 'updated', 'deleted'],
  report: ['created', 'updated', 'deleted'],
  resource_policy: ['created', 'updated', 'deleted'],
  role: ['created', 'updated', 'deleted'],
  tenant_settings: ['updated'],
  user: ['created', 'updated', 'deleted', 'deactivated', 'reactivated'],
  user_attribute: ['created', 'updated', 'deleted'],
  user_group: ['created', 'updated', 'deleted'],
  workbook: ['created', 'updated', 'deleted'],
} as const;

type Resources = typeof RESOURCES;
export type WebhookEvent = { [R in keyof Resources]: `${R}.${Resources[R][number]}` }[keyof Resources];

export const webhookEvents = Object.entries(RESOURCES).flatMap(([resource, verbs]) =>
  verbs.map((verb) => `${resource}.${verb}`),
) as WebhookEvent[];
