/** HTML of users, with values of rows in it. What is not on these lists is left out. */
import { type ComponentChildren, h } from 'preact';
import { safeLink } from './markdown.tsx';

const ELEMENTS = new Set(
  'a abbr b blockquote br caption code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i li mark ol p pre q s section small span strong sub sup table tbody td tfoot th thead tr u ul'.split(
    ' ',
  ),
);
/** Their text is no text for people either. */
const DROPPED = new Set(
  'script style template iframe object embed noscript svg math textarea select title head'.split(' '),
);
const STYLES = new Set(
  'color background-color font-size font-weight font-style text-align text-transform letter-spacing line-height padding padding-top padding-right padding-bottom padding-left margin margin-top margin-bottom border-radius display gap align-items justify-content flex flex-wrap width max-width'.split(
    ' ',
  ),
);
const VALUE = /^[\w\s#.,%-]+$|^rgb\([\d\s,]+\)$/;
const DEPTH_MAX = 50;

/** `{{ member }}` in texts and in the addresses of links. Values are put into texts, never into markup. */
export type Fill = (text: string) => string;

function childrenOf(node: Node, fill: Fill, depth: number): ComponentChildren[] {
  if (depth > DEPTH_MAX) return [];
  return [...node.childNodes].map((child) => elementOf(child, fill, depth + 1));
}

function elementOf(node: Node, fill: Fill, depth: number): ComponentChildren {
  if (node.nodeType === Node.TEXT_NODE) return fill(node.textContent ?? '');
  if (!(node instanceof Element)) return null;
  const name = node.localName;
  if (DROPPED.has(name) || node.namespaceURI !== 'http://www.w3.org/1999/xhtml') return null;
  const children = childrenOf(node, fill, depth);
  if (!ELEMENTS.has(name)) return children;
  const properties: Record<string, unknown> = {};
  if (name === 'a') {
    const href = safeLink(fill(node.getAttribute('href') ?? ''));
    if (href) Object.assign(properties, { href, target: '_blank', rel: 'noopener noreferrer' });
  }
  for (const span of ['colspan', 'rowspan']) {
    const value = Number(node.getAttribute(span));
    if (value > 1 && value <= 100) properties[span] = value;
  }
  const style = styleOf(node.getAttribute('style'));
  if (style) properties.style = style;
  return h(name, properties, ...children);
}

/** Set by the CSSOM, and only properties that keep the element in its place. */
function styleOf(text: string | null): Record<string, string> | undefined {
  if (!text) return undefined;
  const kept = text
    .split(';')
    .map((declaration) => declaration.split(':').map((part) => part.trim()) as [string, string | undefined])
    .filter(([name, value]) => STYLES.has(name.toLowerCase()) && value !== undefined && VALUE.test(value));
  return kept.length ? (Object.fromEntries(kept) as Record<string, string>) : undefined;
}

export function SafeHtml({ template, fill }: { template: string; fill: Fill }) {
  // A document without a window: nothing in it runs or loads.
  const { body } = new DOMParser().parseFromString(template.slice(0, 200_000), 'text/html');
  return <div class="html">{childrenOf(body, fill, 0)}</div>;
}
