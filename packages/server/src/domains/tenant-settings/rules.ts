import type { BodyOf, operations } from '@oriel/contract';
import { invalid } from '../../platform/errors.ts';
import type { TenantSettingsRow } from './store.ts';

type SettingsUpdate = BodyOf<typeof operations.updateTenantSettings>;

/** Null means the same as an absent field, except for the retention, where null is a value. */
export function changedSettings(before: TenantSettingsRow, asked: SettingsUpdate): TenantSettingsRow {
  const { auditLogRetentionDays, embedAllowedOrigins, ...others } = asked;
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  return {
    ...before,
    ...given,
    auditLogRetentionDays:
      auditLogRetentionDays === undefined ? before.auditLogRetentionDays : auditLogRetentionDays,
    embedAllowedOrigins: embedAllowedOrigins ? toOrigins(embedAllowedOrigins) : before.embedAllowedOrigins,
  };
}

function toOrigins(texts: string[]): string[] {
  const origins = texts.map((text, i) => {
    const origin = parseOrigin(text);
    if (!origin)
      throw invalid(`embedAllowedOrigins[${i}]`, 'must be an origin such as https://app.example.com');
    return origin;
  });
  return [...new Set(origins)];
}

const ORIGIN = /^https?:\/\/[^\s/?#@\\]+$/i;
/** Stricter than URLs allow, because origins are sent in headers, where `;` and `*` have a meaning. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/;

/** Returns scheme, host and port as browsers write them, or nothing if the text is not an origin. */
export function parseOrigin(text: string): string | undefined {
  if (!ORIGIN.test(text) || !URL.canParse(text)) return undefined;
  const { origin, hostname } = new URL(text);
  return HOST.test(hostname) ? origin : undefined;
}
