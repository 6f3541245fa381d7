import { Type } from 'typebox';
import { operation } from './operation.ts';
import { Maybe, Shape } from './schemas.ts';

const EmbedSettings = Shape('EmbedSettings', {
  locale: Maybe(Type.String({ maxLength: 100, description: 'A BCP 47 language tag', examples: ['de-AT'] })),
  showDashboardChat: Maybe(
    Type.Boolean({
      description: 'Whether dashboards show the chat where a session says nothing; they do by default',
    }),
  ),
  timezone: Maybe(
    Type.String({ maxLength: 100, description: 'An IANA time zone', examples: ['Europe/Vienna'] }),
  ),
});

const AppConfig = Shape('AppConfigResponse', {
  applyThemeGlobally: Type.Boolean(),
  embedding: Maybe(EmbedSettings),
});

const common = {
  tag: 'App Theme',
  auth: 'management',
  path: '/api/v1/app-config',
  reply: AppConfig,
} as const;

export const getAppConfig = operation({
  ...common,
  id: 'getAppConfig',
  method: 'GET',
  summary: 'Get what every embedded page starts from',
  permission: 'none',
  embed: 'viewer',
  audit: 'none',
});

export const updateAppConfig = operation({
  ...common,
  id: 'updateAppConfig',
  method: 'PUT',
  summary: 'Change what every embedded page starts from',
  description: 'What is absent stays, and `null` goes back to the default.',
  permission: 'All',
  body: Shape('UpdateAppConfigInput', { embedding: EmbedSettings }),
  audit: 'appConfig',
});
