const ORIGIN = /^https?:\/\/[^\s/?#@\\]+$/i;
/** Stricter than URLs allow, because origins are sent in headers, where `;` and `*` have a meaning. */
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/;

/** Returns scheme, host and port as browsers write them, or nothing if the text is not an origin. */
export function parseOrigin(text: string): string | undefined {
  if (!ORIGIN.test(text) || !URL.canParse(text)) return undefined;
  const { origin, hostname } = new URL(text);
  return HOST.test(hostname) ? origin : undefined;
}
