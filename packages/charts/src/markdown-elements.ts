/**
 * A small Markdown: headings, lists, tables, quotes, code, emphasis, links. It makes elements, never HTML from text, so
 * that nothing in a text can become a script, a picture or a style.
 */

export interface ElementFactory<Element> {
  /** Makes an element, as `h` of Preact does. */
  h(name: string, properties: Record<string, string>, children: readonly (Element | string)[]): Element;
  /** Where a link leads, if it may. */
  linkOf(address: string): string | undefined;
}
type Part<Element> = Element | string;

/** Each part stops at the sign that it begins with, or is bounded: the work grows with the length of the text only. */
const INLINE =
  /`([^`]+)`|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|_([^_\s][^_]*)_|~~(.+?)~~|!?\[([^[\]]{0,1000})\]\(([^)\s]{1,2000})(?:\s[^)]{0,1000})?\)/g;

function inline<E>(text: string, making: ElementFactory<E>): Part<E>[] {
  const parts: Part<E>[] = [];
  let done = 0;
  for (const found of text.matchAll(INLINE)) {
    parts.push(text.slice(done, found.index), elementOf(found, making));
    done = found.index + found[0].length;
  }
  return [...parts, text.slice(done)];
}

function elementOf<E>(
  [all, code, bold, bold2, italic, italic2, gone, label, address]: RegExpExecArray,
  making: ElementFactory<E>,
): Part<E> {
  const { h, linkOf } = making;
  if (code !== undefined) return h('code', {}, [code]);
  const strong = bold ?? bold2;
  if (strong !== undefined) return h('strong', {}, inline(strong, making));
  const emphasis = italic ?? italic2;
  if (emphasis !== undefined) return h('em', {}, inline(emphasis, making));
  if (gone !== undefined) return h('s', {}, inline(gone, making));
  const href = all!.startsWith('!') ? undefined : linkOf(address!);
  return href
    ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }, inline(label!, making))
    : label!;
}

const cells = (line: string) =>
  line
    .replace(/^\s*\||\|\s*$/g, '')
    .split('|')
    .map((cell) => cell.trim());

export function markdownElements<E>(text: string, making: ElementFactory<E>): E[] {
  const { h } = making;
  const within = (part: string) => inline(part, making);
  const lines = text.slice(0, 100_000).split(/\r?\n/);
  const blocks: E[] = [];
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
      blocks.push(h(`h${Math.max(2, marks.length)}`, {}, within(line.slice(marks.length).trim())));
    } else if (/^```/.test(line)) {
      at++;
      blocks.push(h('pre', {}, [h('code', {}, [take((next) => !/^```/.test(next)).join('\n')])]));
      at++;
    } else if (/^(?:---+|\*\*\*+)\s*$/.test(line)) {
      at++;
      blocks.push(h('hr', {}, []));
    } else if (/^>/.test(line)) {
      const quoted = take((next) => /^>/.test(next)).map((next) => next.replace(/^>\s?/, ''));
      blocks.push(h('blockquote', {}, within(quoted.join(' '))));
    } else if (/^\s*[-*+]\s+/.test(line)) {
      const items = take((next) => /^\s*[-*+]\s+/.test(next));
      blocks.push(
        h(
          'ul',
          {},
          items.map((item) => h('li', {}, within(item.replace(/^\s*[-*+]\s+/, '')))),
        ),
      );
    } else if (/^\s*\d+[.)]\s+/.test(line)) {
      const items = take((next) => /^\s*\d+[.)]\s+/.test(next));
      blocks.push(
        h(
          'ol',
          {},
          items.map((item) => h('li', {}, within(item.replace(/^\s*\d+[.)]\s+/, '')))),
        ),
      );
    } else if (line.includes('|') && /^[\s|:-]+$/.test(lines[at + 1] ?? '') && lines[at + 1]!.includes('-')) {
      const [head, , ...body] = take((next) => next.includes('|'));
      blocks.push(
        h('table', {}, [
          h('thead', {}, [
            h(
              'tr',
              {},
              cells(head!).map((cell) => h('th', {}, within(cell))),
            ),
          ]),
          h(
            'tbody',
            {},
            body.map((row) =>
              h(
                'tr',
                {},
                cells(row).map((cell) => h('td', {}, within(cell))),
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
      blocks.push(h('p', {}, within([line, ...rest].join(' '))));
    }
  }
  return blocks;
}
