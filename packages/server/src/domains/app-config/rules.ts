import { invalid } from '../../platform/errors.ts';
import type { TenantSettingsRow } from '../tenant-settings/index.ts';

type Embedding = TenantSettingsRow['embedding'];
type Asked = { [Field in keyof Embedding]?: Embedding[Field] | null };

/** With the defaults for what is not set. */
export const toEmbedSettings = ({ locale, showDashboardChat, timezone }: Embedding) => ({
  locale: locale ?? null,
  showDashboardChat: showDashboardChat ?? true,
  timezone: timezone ?? null,
});

/** What is absent stays, and null goes back to the default. */
export function changedEmbedding(before: Embedding, asked: Asked): Embedding {
  const wanted = { ...before, ...asked };
  if (asked.locale != null) wanted.locale = requireLocale(asked.locale);
  if (asked.timezone != null) requireTimezone(asked.timezone);
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));
}

function requireLocale(text: string): string {
  const locale = parseLocale(text);
  if (!locale) throw invalid('embedding.locale', 'must be a language tag such as de-AT');
  return locale;
}

function requireTimezone(text: string) {
  if (!isTimezone(text)) throw invalid('embedding.timezone', 'must be a time zone such as Europe/Vienna');
}

/** A BCP 47 tag as it is properly written; nothing where the text is none. */
export function parseLocale(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/** Zones of three letters. Others that JavaScript takes, such as PST, are none, and databases read them differently. */
const SHORT_ZONES = /^(CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET)$/i;

export function isTimezone(text: string): boolean {
  // Newer versions of JavaScript take offsets too. An offset knows no summer time.
  if (/^[+-]/.test(text) || (text.length === 3 && !SHORT_ZONES.test(text))) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}
