import { Type } from 'typebox';
import { operation } from '../operation.ts';
import { Maybe, matching, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'App Theme': 'How embedded pages look and behave if the session does not decide it.',
} satisfies TagDefinitions;

const text = (maxLength: number) => Type.String({ maxLength });
const color = Type.String({ minLength: 1, maxLength: 100, examples: ['#3366ff'] });
const Locale = Type.String({
  maxLength: 100,
  description: 'A BCP 47 language tag',
  examples: ['de-AT'],
});
const TimeZone = Type.String({
  maxLength: 100,
  description: 'An IANA time zone',
  examples: ['Europe/Vienna'],
});
const flag = (description: string) => Maybe(Type.Boolean({ description }));

const Scheme = Shape('AppThemeScheme', {
  accentColor: color,
  backgroundColor: color,
  foregroundColor: color,
  contrast: Type.Number({ minimum: 0, maximum: 100 }),
  logoUrl: Type.String({
    ...matching('^([Hh][Tt][Tt][Pp][Ss]?://.+)?$', 'must be empty, or begin with http:// or https://'),
    maxLength: 2048,
    description: "Loaded by the viewer's browser; empty for none",
    examples: ['https://app.example.com/logo.svg', ''],
  }),
});

const FontRef = Shape('AppThemeFontRef', {
  fontRef: text(255),
  fontWeight: Type.Number({ minimum: 1, maximum: 1000, examples: [400] }),
});

const Font = Shape('ThemeFont', {
  id: text(255),
  name: Maybe(text(255)),
  family: Maybe(text(255)),
  format: Type.String({ maxLength: 100, examples: ['woff2'] }),
  url: Type.String({
    ...matching('^[Hh][Tt][Tt][Pp][Ss]?://.+$', 'must begin with http:// or https://'),
    maxLength: 2048,
    examples: ['https://app.example.com/inter.woff2'],
  }),
});

const AppTheme = Shape(
  'AppTheme',
  {
    dark: Scheme,
    light: Scheme,
    typography: Maybe(
      Shape('AppThemeTypography', {
        body: FontRef,
        heading: FontRef,
        fonts: Type.Array(Font, { maxItems: 50 }),
      }),
    ),
  },
  { description: 'Up to 64 KB of JSON' },
);

const CreatorMode = Shape('CreatorMode', {
  workspaceTitle: Maybe(Type.String({ maxLength: 1000, description: 'The title of the workspace' })),
  localizedTitles: Maybe(
    Type.Array(Shape('LocalizedValue', { locale: { ...Locale, maxLength: 35 }, value: text(1000) }), {
      maxItems: 50,
      description: 'The title in other languages, each language once',
    }),
  ),
  showWorkspaceTitle: flag('Whether the workspace shows its title'),
  showGeneratedSql: flag('Whether creators see the SQL that is run'),
  showSemanticSql: flag('Whether creators see the SQL over the data model'),
});

const EmbedSettings = Shape('EmbedSettings', {
  locale: Maybe(Locale),
  showDashboardChat: Maybe(
    Type.Boolean({
      description: 'Whether dashboards show the chat if the session does not decide it; true by default',
    }),
  ),
  timezone: Maybe(TimeZone),
});

const SheetsUi = Shape('SheetsUiSettings', {
  showAppliedFilters: flag('Whether spreadsheets show the filters that are applied'),
});

const TimezoneSettings = Shape('TimezoneSettings', {
  enabled: flag('Whether times are shown in `timezone`'),
  timezone: Maybe(TimeZone),
  allowUserOverride: flag('Whether users may choose another time zone'),
});

const sections = {
  appTheme: Maybe(AppTheme),
  creatorMode: Maybe(CreatorMode),
  embedding: Maybe(EmbedSettings),
  sheetsUi: Maybe(SheetsUi),
  timezoneSettings: Maybe(TimezoneSettings),
};

const applyThemeGlobally = Type.Boolean({
  description: 'Whether users of the account see the theme too, not only embedded viewers',
});

const common = {
  tag: 'App Theme',
  auth: 'management',
  path: '/api/v1/app-config',
  reply: Shape('AppConfigResponse', { ...sections, applyThemeGlobally }),
} as const;

export const getAppConfig = operation({
  ...common,
  id: 'getAppConfig',
  method: 'GET',
  summary: 'Get the default settings of embedded pages',
  description: 'What sessions do not decide for themselves: theme, language, time zone and what pages show.',
  crossOrigin: true,
  permission: 'none',
  embed: 'viewer',
  scopedKeys: 'allowed',
  audit: 'none',
});

export const getAppTheme = operation({
  id: 'getAppTheme',
  tag: 'App Theme',
  method: 'GET',
  path: '/api/v1/app-theme',
  summary: 'Get the theme of the account',
  description: 'The same theme as in `GET /api/v1/app-config`; `null` if none is set.',
  auth: 'management',
  permission: 'none',
  reply: Shape('AppThemeResponse', { appTheme: sections.appTheme, applyThemeGlobally }),
  scopedKeys: 'allowed',
  audit: 'none',
});

export const updateAppConfig = operation({
  ...common,
  id: 'updateAppConfig',
  method: 'PUT',
  summary: 'Change the default settings of embedded pages',
  description:
    'Absent fields stay as they are, also within a section. `null` resets a field to its default. `appTheme` is replaced as a whole.',
  permission: 'All',
  body: Shape(
    'UpdateAppConfigInput',
    { ...sections, applyThemeGlobally: Maybe(Type.Boolean()) },
    { examples: [{ embedding: { locale: 'de-AT', timezone: 'Europe/Vienna' }, creatorMode: null }] },
  ),
  scopedKeys: 'refused',
  audit: 'appConfig',
});
