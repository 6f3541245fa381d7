/** What the fields of the look of pages mean, and those of errors and pages of lists. */
import type { FieldWords } from './index.ts';

const section = {
  backgroundColor: 'The colour behind it, as CSS writes colours',
  padding: 'The space inside its edge, as CSS writes lengths',
  margin: 'The space around it, as CSS writes lengths',
  border: 'The line around it',
  title: 'How its title is written',
  text: 'How texts inside of it are written',
};
const appConfig = {
  appTheme: 'Colours, logos and fonts of the account; null for those of the product',
  creatorMode: 'What viewers in creator mode see in their workspace',
  embedding: 'Language, time zone and chat of sessions that do not choose their own',
  sheetsUi: 'What spreadsheets show',
  timezoneSettings: 'In which time zone times are shown',
  applyThemeGlobally: 'Whether users of the account see the theme too, not only embedded viewers',
};

export const app: FieldWords = {
  AppConfigResponse: appConfig,
  UpdateAppConfigInput: appConfig,
  AppThemeResponse: { appTheme: appConfig.appTheme },
  AppTheme: {
    dark: 'For viewers whose system prefers dark colours',
    light: 'For all other viewers',
    typography: 'Fonts of your own; null for those of the product',
  },
  AppThemeFontRef: {
    fontRef: 'The `id` of one of the `fonts`',
    fontWeight: 'As in CSS: 400 is normal, 700 is bold',
  },
  AppThemeScheme: {
    accentColor: 'The colour of buttons, links and whatever is chosen',
    backgroundColor: 'The colour of the page',
    foregroundColor: 'The colour of texts',
    contrast: 'How far lines and shades stand out from the background, from 0 to 100',
  },
  AppThemeTypography: {
    body: 'The font of ordinary texts',
    heading: 'The font of titles',
    fonts: 'The font files that `body` and `heading` choose from',
  },
  ThemeFont: {
    id: 'What `fontRef` names',
    name: 'What people see when they choose a font',
    family: 'The name of the family in CSS; by default the `name`',
    format: 'The format of the file, as CSS names it in `format()`',
    url: "The address of the file, which the viewer's browser loads",
  },
  LocalizedValue: { value: 'The text in this language' },
  ThemeBorder: {
    color: 'As CSS writes colours',
    radius: 'How round the corners are, as CSS writes lengths',
    style: 'A line style of CSS, such as `solid`',
    width: 'How thick the line is, as CSS writes lengths',
  },
  ThemeText: {
    codeFontFamily: 'The font of code',
    color: 'The colour of ordinary texts',
    fontFamily: 'The font of ordinary texts',
    secondaryColor: 'The colour of texts that matter less, such as captions',
  },
  ThemeTitle: {
    color: 'As CSS writes colours',
    fontFamily: 'A font family of CSS',
    fontSize: 'As CSS writes lengths',
    fontWeight: 'As in CSS: `400` is normal, `700` is bold',
  },
  ControlThemeSection: section,
  DashboardThemeSection: section,
  WidgetThemeSection: section,
  DashboardThemeInput: {
    backgroundColor: 'The colour of the page',
    fontFamily: 'The font of all texts that have none of their own',
    primaryColor: 'The colour of buttons, links and the first series of charts',
    themeId: 'A name for the theme, which only clients read',
    dashboard: 'The page around the widgets',
    controls: 'Widgets that filter or choose',
    widgets: 'All other widgets',
  },
  EmbedTheme: {
    primaryColor: 'The colour of buttons, links and the first series of charts',
    font: 'The font of all texts, if the browser of the viewer has it',
    chat: 'The chat beside a dashboard',
    analyticsChat: 'The page that is only a chat',
  },
  EmbedThemeAnalyticsChat: {
    backgroundColor: 'The colour of the page',
    chatInput: 'The field for the next question',
  },
  EmbedThemeAnalyticsChatInput: {
    backgroundColor: 'The colour of the field',
    borderColor: 'The colour of its edge',
  },
  EmbedThemeChat: { inputColor: 'The colour of the field for the next question' },

  PageInfo: {
    hasNextPage: 'Whether the list goes on after this page',
    hasPreviousPage: 'Whether something comes before this page',
    startCursor: 'Stands for the first item; null on an empty page',
    endCursor: 'Stands for the last item: give it as `after` to get the next page. Null on an empty page',
  },
  Error: {
    statusCode: 'The HTTP status again, for clients that see only the body',
    requestId: 'Tell it to whoever runs the server: the log has it too',
    issues: 'What is wrong with the request, one entry a place',
  },
  Issue: { message: 'What is wrong there, for people' },
  MergeConflict: {
    path: 'The file, from the root of the data model',
    kind: 'How both branches changed it',
    hunks: 'The lines that both branches changed, if it is a text that both have',
  },
  ScimError: {
    schemas: 'Says that this is an error of SCIM',
    scimType: 'The kind of error in the words of RFC 7644, if it has one',
  },
};
