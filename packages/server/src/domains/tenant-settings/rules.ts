import type { BodyOf, operations } from '@oriel/contract';
import { invalid } from '../../platform/errors.ts';
import { toLinkTemplate } from './link-template.ts';
import { parseOrigin } from './origins.ts';
import type { TenantSettingsRow } from './store.ts';

type SettingsUpdate = BodyOf<typeof operations.updateTenantSettings>;

/** Null means the same as an absent field, except for the retention and the template, where null is a value. */
export function changedSettings(before: TenantSettingsRow, asked: SettingsUpdate): TenantSettingsRow {
  const { auditLogRetentionDays, embedAllowedOrigins, notificationLinkTemplate: link, ...others } = asked;
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null));
  return {
    ...before,
    ...given,
    auditLogRetentionDays:
      auditLogRetentionDays === undefined ? before.auditLogRetentionDays : auditLogRetentionDays,
    notificationLinkTemplate:
      link === undefined ? before.notificationLinkTemplate : link && toLinkTemplate(link),
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
