import { type BodyOf, limits, type operations, type ReplyOf } from '@oriel/contract';
import { invalid } from '../../platform/errors.ts';
import { requireBytes } from '../../platform/limits.ts';
import type { AppConfigRow } from '../tenant-settings/index.ts';

type Update = BodyOf<typeof operations.updateAppConfig>;
type Reply = ReplyOf<typeof operations.getAppConfig>;

/** Fills in the defaults of fields that are not set. */
export const toReply = ({ embedding, appConfig }: AppConfigRow): Reply => ({
  appTheme: appConfig.appTheme ?? null,
  applyThemeGlobally: appConfig.applyThemeGlobally ?? false,
  creatorMode: {
    workspaceTitle: null,
    localizedTitles: null,
    showWorkspaceTitle: null,
    showGeneratedSql: null,
    showSemanticSql: null,
    ...appConfig.creatorMode,
  },
  embedding: { locale: null, showDashboardChat: true, timezone: null, ...embedding },
  sheetsUi: { showAppliedFilters: null, ...appConfig.sheetsUi },
  timezoneSettings: { enabled: null, timezone: null, allowUserOverride: null, ...appConfig.timezoneSettings },
});

/** A field that is absent stays, and null sets it back to its default. */
export function changedAppConfig({ embedding, appConfig }: AppConfigRow, asked: Update): AppConfigRow {
  const { appTheme = appConfig.appTheme, applyThemeGlobally = appConfig.applyThemeGlobally } = asked;
  requireBytes('appTheme', asked.appTheme, limits.theme);
  return {
    embedding: changedSection(embedding, checkedEmbedding(asked.embedding)) ?? {},
    appConfig: withoutNulls({
      appTheme,
      applyThemeGlobally,
      creatorMode: changedSection(appConfig.creatorMode, checkedCreatorMode(asked.creatorMode)),
      sheetsUi: changedSection(appConfig.sheetsUi, asked.sheetsUi),
      timezoneSettings: changedSection(
        appConfig.timezoneSettings,
        checkedTimezoneSettings(asked.timezoneSettings),
      ),
    }),
  };
}

function changedSection<Section extends object>(
  before: Section | undefined,
  asked: object | null | undefined,
) {
  if (asked === undefined) return before;
  return asked === null ? undefined : (withoutNulls({ ...before, ...asked }) as Section);
}

const withoutNulls = <T extends object>(record: T) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value != null)) as {
    [Key in keyof T]?: NonNullable<T[Key]>;
  };

function checkedEmbedding(asked: Update['embedding']) {
  if (asked?.timezone != null) requireTimezone('embedding.timezone', asked.timezone);
  return asked?.locale == null
    ? asked
    : { ...asked, locale: requireLocale('embedding.locale', asked.locale) };
}

function checkedCreatorMode(asked: Update['creatorMode']) {
  if (!asked?.localizedTitles) return asked;
  const localizedTitles = asked.localizedTitles.map(({ locale, value }, i) => ({
    locale: requireLocale(`creatorMode.localizedTitles[${i}].locale`, locale),
    value,
  }));
  const locales = localizedTitles.map(({ locale }) => locale);
  const again = locales.findIndex((locale, i) => locales.indexOf(locale) !== i);
  if (again !== -1) throw invalid(`creatorMode.localizedTitles[${again}].locale`, 'is given twice');
  return { ...asked, localizedTitles };
}

function checkedTimezoneSettings(asked: Update['timezoneSettings']) {
  if (asked?.timezone != null) requireTimezone('timezoneSettings.timezone', asked.timezone);
  return asked;
}

function requireLocale(path: string, text: string): string {
  const locale = parseLocale(text);
  if (!locale) throw invalid(path, 'must be a language tag such as de-AT');
  return locale;
}

function requireTimezone(path: string, text: string) {
  if (!isTimezone(text)) throw invalid(path, 'must be a time zone such as Europe/Vienna');
}

/** Returns the canonical form of a BCP 47 language tag, or nothing if the text is not one. */
export function parseLocale(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/** The time zones of three letters. JavaScript accepts others, such as PST, but databases read them differently. */
const SHORT_ZONES = /^(CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$/i;

export function isTimezone(text: string): boolean {
  // Newer versions of JavaScript also accept offsets. An offset has no summer time.
  if (/^[+-]/.test(text) || (text.length === 3 && !SHORT_ZONES.test(text))) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}
