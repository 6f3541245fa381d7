/** The address of the host's page with a dashboard, for mails to embed users. */
import { invalid } from '../../platform/errors.ts';
import { parseOrigin } from './origins.ts';

const PLACEHOLDERS = ['dashboardPublicId', 'dashboardId', 'deploymentId', 'embedTenantName'] as const;
export type LinkValues = Record<(typeof PLACEHOLDERS)[number], string | number>;

/** A scheme and a host that are no placeholders, so that no value decides where the link leads. */
const FORM = /^(https?:\/\/[^/?#{}]+)([/?#][^\s<>"\\^`\p{Cc}]*)?$/iu;
const BRACES = /\{([^{}]*)\}/g;

/** Returns the template as browsers write its origin. Throws a 400. */
export function toLinkTemplate(text: string): string {
  const [, start = '', rest = ''] = FORM.exec(text) ?? [];
  const origin = parseOrigin(start);
  const names = [...rest.matchAll(BRACES)].map(([, name]) => name);
  const unknown = names.find((name) => !PLACEHOLDERS.some((known) => known === name));
  if (!origin || /[{}]/.test(rest.replaceAll(BRACES, '')))
    throw invalid(
      'notificationLinkTemplate',
      'must be an address such as https://app.example.com/reports/{dashboardPublicId}',
    );
  if (unknown !== undefined)
    throw invalid(
      'notificationLinkTemplate',
      `has the unknown placeholder {${unknown}}; known are ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`,
    );
  return origin + rest;
}

export const fillLinkTemplate = (template: string, values: LinkValues) =>
  template.replaceAll(BRACES, (_all, name: keyof LinkValues) => encodeURIComponent(String(values[name])));
