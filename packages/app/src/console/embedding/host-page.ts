/**
 * What is right and wrong with the page of a host that shows a dashboard, from its address and its HTML. Nothing is loaded and
 * nothing of it runs: it is read as text.
 */
export type HostFinding =
  | 'originAllowed'
  | 'originNotAllowed'
  | 'anyOriginAllowed'
  | 'addressWrong'
  | 'notEncrypted'
  | 'nothingEmbedded'
  | 'elementFound'
  | 'elementIncomplete'
  | 'elementElsewhere'
  | 'scriptMissing'
  | 'frameFound'
  | 'frameWrongPath'
  | 'frameSessionInQuery'
  | 'frameSessionFixed'
  | 'frameSandboxed'
  | 'policyBlocks'
  | 'keyInPage';

export interface HostPage {
  address: string;
  html: string;
}

export interface HostRules {
  /** Of this server. */
  origin: string;
  /** Empty for all. */
  allowedOrigins: readonly string[];
}

const GOOD: readonly HostFinding[] = ['originAllowed', 'elementFound', 'frameFound'];
export const isGood = (finding: HostFinding) => GOOD.includes(finding);

export function checkHostPage({ address, html }: HostPage, rules: HostRules): HostFinding[] {
  const found = new Set<HostFinding>();
  if (address.trim()) checkAddress(address.trim(), rules, found);
  if (html.trim()) checkHtml(html, rules, found);
  return [...found];
}

function checkAddress(address: string, { allowedOrigins, origin }: HostRules, found: Set<HostFinding>) {
  const page = URL.canParse(address) ? new URL(address) : undefined;
  if (!page || !/^https?:$/.test(page.protocol)) {
    found.add('addressWrong');
    return;
  }
  const isOwn = page.origin === origin;
  if (allowedOrigins.length === 0) found.add('anyOriginAllowed');
  else found.add(isOwn || allowedOrigins.includes(page.origin) ? 'originAllowed' : 'originNotAllowed');
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(page.hostname);
  if (page.protocol === 'http:' && !isLocal) found.add('notEncrypted');
}

function checkHtml(html: string, { origin }: HostRules, found: Set<HostFinding>) {
  if (/\bsk-[\w-]{20,}/.test(html)) found.add('keyInPage');
  const elements = tagsOf(html, 'oriel-dashboard');
  for (const attributes of elements) {
    const base = attributes['base-url'];
    if (!base || !(attributes['public-id'] || attributes['deployment-id'])) found.add('elementIncomplete');
    else if (!URL.canParse(base) || new URL(base).origin !== origin) found.add('elementElsewhere');
    else found.add('elementFound');
  }
  const hasScript = /embed(\.min)?\.js|@oriel\/viewer/.test(html);
  if (elements.length > 0 && !hasScript) found.add('scriptMissing');
  const frames = tagsOf(html, 'iframe').filter(({ src = '' }) => originOf(src) === origin);
  for (const frame of frames) checkFrame(frame, origin, found);
  const isByComponent = /OrielDashboard/.test(html) && hasScript;
  if (isByComponent && elements.length === 0) found.add('elementFound');
  if (elements.length === 0 && frames.length === 0 && !isByComponent) found.add('nothingEmbedded');
  for (const { content = '', ...meta } of tagsOf(html, 'meta')) {
    const isPolicy = meta['http-equiv']?.toLowerCase() === 'content-security-policy';
    if (isPolicy && !letsFrame(content, origin)) found.add('policyBlocks');
  }
}

function checkFrame({ src = '', sandbox }: Attributes, origin: string, found: Set<HostFinding>) {
  const address = new URL(src, origin);
  const problems: HostFinding[] = [];
  if (!/^\/embed\/(dashboard\/[^/]+|d\/\d+\/(app|chat))(\/|$)/.test(address.pathname))
    problems.push('frameWrongPath');
  if (address.searchParams.has('session')) problems.push('frameSessionInQuery');
  // The first viewer of a page with a fixed session uses the session up. A template has a placeholder there.
  if (/session=\d+\.[\w-]{20,}/.test(src)) problems.push('frameSessionFixed');
  const needed = ['allow-scripts', 'allow-same-origin'];
  if (sandbox !== undefined && !needed.every((one) => sandbox.split(/\s+/).includes(one)))
    problems.push('frameSandboxed');
  for (const problem of problems.length ? problems : (['frameFound'] as const)) found.add(problem);
}

type Attributes = Record<string, string | undefined>;

/** The attributes of all elements of a name. Comments do not count. */
function tagsOf(html: string, name: string): Attributes[] {
  const text = html.replace(/<!--[\s\S]*?-->/g, '');
  return [...text.matchAll(new RegExp(`<${name}(?=[\\s>/])((?:"[^"]*"|'[^']*'|[^"'>])*)>`, 'gi'))].map(
    ([, inner = '']) =>
      Object.fromEntries(
        [...inner.matchAll(/([^\s=/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)].map(
          ([, key, double, single, bare]) => [
            key!.toLowerCase(),
            (double ?? single ?? bare ?? '').replaceAll('&amp;', '&'),
          ],
        ),
      ),
  );
}

const originOf = (address: string) => (URL.canParse(address) ? new URL(address).origin : undefined);

/** Whether a policy of the page allows frames of this server. */
function letsFrame(policy: string, origin: string) {
  const directives = new Map(
    policy.split(';').map((part) => {
      const [name = '', ...values] = part.trim().toLowerCase().split(/\s+/);
      return [name, values] as const;
    }),
  );
  const values = directives.get('frame-src') ?? directives.get('child-src') ?? directives.get('default-src');
  if (!values) return true;
  const { protocol, host } = new URL(origin);
  return values.some((value) => ['*', protocol, origin, host].includes(value.replace(/\/$/, '')));
}
