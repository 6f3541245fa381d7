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

const INLINE =
  /`([^`]+)`|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|_([^_\s][^_]*)_|~~(.+?)~~|!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)/;

function inline(text: string): ComponentChildren[] {
  const found = INLINE.exec(text);
  if (!found) return text ? [text] : [];
  const [all, code, bold, bold2, italic, italic2, gone, label, address] = found;
  const element = () => {
    if (code !== undefined) return h('code', {}, code);
    const strong = bold ?? bold2;
    if (strong !== undefined) return h('strong', {}, inline(strong));
    const emphasis = italic ?? italic2;
    if (emphasis !== undefined) return h('em', {}, inline(emphasis));
    if (gone !== undefined) return h('s', {}, inline(gone));
    const href = all!.startsWith('!') ? undefined : safeLink(address!);
    return href ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, inline(label!)) : label!;
  };
  return [text.slice(0, found.index), element(), ...inline(text.slice(found.index + all!.length))];
}

const cells = (line: string) =>
  line
    .replace(/^\s*\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.trim());

export function Markdown({ text }: { text: string }) {
  const lines = text.slice(0, 100_000).split(/\r?\n/);
  const blocks: ComponentChildren[] = [];
  const take = (is: (line: string) => boolean) => {
    const taken: string[] = [];
    while (lines.length && is(lines[0]!)) taken.push(lines.shift()!);
    return taken;
  };
  while (lines.length) {
    const line = lines[0]!;
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (!line.trim()) lines.shift();
    else if (heading) {
      lines.shift();
      blocks.push(h(`h${Math.max(2, heading[1]!.length)}`, {}, inline(heading[2]!)));
    } else if (/^```/.test(line)) {
      lines.shift();
      blocks.push(h('pre', {}, h('code', {}, take((next) => !/^```/.test(next)).join('\n'))));
      lines.shift();
    } else if (/^(?:---+|\*\*\*+)\s*$/.test(line)) {
      lines.shift();
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
    } else if (line.includes('|') && /^[\s|:-]+$/.test(lines[1] ?? '') && lines[1]!.includes('-')) {
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
      const first = lines.shift()!;
      const rest = take(
        (next) => next.trim() !== '' && !/^(?:#{1,6}\s|>|```|\s*[-*+]\s|\s*\d+[.)]\s)/.test(next),
      );
      blocks.push(h('p', {}, inline([first, ...rest].join(' '))));
    }
  }
  return <div class="markdown">{blocks}</div>;
}
