/**
 * A small Markdown: headings, lists, tables, quotes, code, emphasis, links. It makes elements, never HTML from text, so
 * that nothing in a text can become a script, a picture or a style.
 */
import { type ComponentChildren, h } from 'preact';

/** Where a link may lead. */
export function safeLink(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address.trim(), location.origin);
    return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

/** Each part stops at the sign that it begins with, or is bounded: the work grows with the length of the text only. */
const INLINE =
  /`([^`]+)`|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|_([^_\s][^_]*)_|~~(.+?)~~|!?\[([^[\]]{0,1000})\]\(([^)\s]{1,2000})(?:\s[^)]{0,1000})?\)/g;

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let done = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(done, found.index), elementOf(found));
    done = found.index + found[0].length;
  }
  return [...parts, text.slice(done)];
}

function elementOf([all, code, bold, bold2, italic, italic2, gone, label, address]: RegExpExecArray) {
  if (code !== undefined) return h('code', {}, code);
  const strong = bold ?? bold2;
  if (strong !== undefined) return h('strong', {}, inline(strong));
  const emphasis = italic ?? italic2;
  if (emphasis !== undefined) return h('em', {}, inline(emphasis));
  if (gone !== undefined) return h('s', {}, inline(gone));
  const href = all!.startsWith('!') ? undefined : safeLink(address!);
  return href ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, inline(label!)) : label!;
}

const cells = (line: string) =>
  line
    .replace(/^\s*\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.trim());

export function Markdown({ text }: { text: string }) {
  const lines = text.slice(0, 100_000).split(/\r?\n/);
  const blocks: ComponentChildren[] = [];
  let at = 0;
  const take = (is: (line: string) => boolean) => {
    const from = at;
    while (at < lines.length && is(lines[at]!)) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const [marks] = /^#{1,6}(?=\s)/.exec(line) ?? [];
    if (!line.trim()) at++;
    else if (marks) {
      at++;
      blocks.push(h(`h${Math.max(2, marks.length)}`, {}, inline(line.slice(marks.length).trim())));
    } else if (/^```/.test(line)) {
      at++;
      blocks.push(h('pre', {}, h('code', {}, take((next) => !/^```/.test(next)).join('\n'))));
      at++;
    } else if (/^(?:---+|\*\*\*+)\s*$/.test(line)) {
      at++;
      blocks.push(h('hr', {}));
    } else if (/^>/.test(line)) {
      const quoted = take((next) => /^>/.test(next)).map((next) => next.replace(/^>\s?/, ''));
      blocks.push(h('blockquote', {}, inline(quoted.join(' '))));
    } else if (/^\s*[-*+]\s+/.test(line)) {
      const items = take((next) => /^\s*[-*+]\s+/.test(next));
      blocks.push(
        h(
          'ul',
          {},
          items.map((item) => h('li', {}, inline(item.replace(/^\s*[-*+]\s+/, '')))),
        ),
      );
    } else if (/^\s*\d+[.)]\s+/.test(line)) {
      const items = take((next) => /^\s*\d+[.)]\s+/.test(next));
      blocks.push(
        h(
          'ol',
          {},
          items.map((item) => h('li', {}, inline(item.replace(/^\s*\d+[.)]\s+/, '')))),
        ),
      );
    } else if (line.includes('|') && /^[\s|:-]+$/.test(lines[at + 1] ?? '') && lines[at + 1]!.includes('-')) {
      const [head, , ...body] = take((next) => next.includes('|'));
      blocks.push(
        h('table', {}, [
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              cells(head!).map((cell) => h('th', {}, inline(cell))),
            ),
          ),
          h(
            'tbody',
            {},
            body.map((row) =>
              h(
                'tr',
                {},
                cells(row).map((cell) => h('td', {}, inline(cell))),
              ),
            ),
          ),
        ]),
      );
    } else {
      // At least one line, so that every line is used up.
      at++;
      const rest = take(
        (next) => next.trim() !== '' && !/^(?:#{1,6}\s|>|```|\s*[-*+]\s|\s*\d+[.)]\s)/.test(next),
      );
      blocks.push(h('p', {}, inline([line, ...rest].join(' '))));
    }
  }
  return <div class="markdown">{blocks}</div>;
}
