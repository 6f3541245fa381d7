import type { ComponentChildren, VNode } from 'preact';
import { expect, test } from 'vitest';
import { Markdown } from './markdown.tsx';

declare const process: { cpuUsage(before?: object): { user: number; system: number } };

/** The elements as text, such as `p(a strong(b))`. */
const written = (part: ComponentChildren): string =>
  Array.isArray(part)
    ? part.map(written).join('')
    : part && typeof part === 'object' && 'type' in part
      ? `${part.type}(${written((part as VNode<{ children?: ComponentChildren }>).props.children)})`
      : String(part ?? '');
const show = (text: string) => written(Markdown({ text })).slice('div('.length, -1);

test.each([
  ['a **b** _c_ ~~d~~ `e*f*`', 'p(a strong(b) em(c) s(d) code(e*f*))'],
  ['**a *b* __c__**', 'p(strong(a em(b) strong(c)))'],
  ['# One\n### Three', 'h2(One)h3(Three)'],
  ['#hash', 'p(#hash)'],
  ['- a\n- b\n\n1. c', 'ul(li(a)li(b))ol(li(c))'],
  ['> a\n> b', 'blockquote(a b)'],
  ['```\n**a**\n```\nb', 'pre(code(**a**))p(b)'],
  ['| a | b |\n|---|---|\n| 1 | 2 |', 'table(thead(tr(th(a)th(b)))tbody(tr(td(1)td(2))))'],
  ['a\nb\n\nc', 'p(a b)p(c)'],
  ['![picture](https://a.example/p.png)', 'p(picture)'],
  ['[x](javascript:alert(1)) <script>', 'p(x) <script>)'],
])('%j', (text, elements) => {
  expect(show(text)).toBe(elements);
});

const HARD: [string, (n: number) => string][] = [
  ['brackets', (n) => '['.repeat(n)],
  ['links without an end', (n) => '[]('.repeat(n / 3)],
  ['a long link without an end', (n) => `[](${'a'.repeat(n)}`],
  ['stars', (n) => '*'.repeat(n)],
  ['stars and letters', (n) => '*a '.repeat(n / 3)],
  ['marks of every kind', (n) => '**_~~`[a](b '.repeat(n / 12)],
  ['lines', (n) => 'a\n\n'.repeat(n / 3)],
  ['a heading of spaces', (n) => `# ${' '.repeat(n)}a\u2028`],
  ['bold words', (n) => '**a** '.repeat(n / 6)],
];

test.each(HARD)('%s cost work that grows with the length of the text, not with its square', (_, make) => {
  const cpuMs = (n: number) => {
    const text = make(n);
    const before = process.cpuUsage();
    Markdown({ text });
    Markdown({ text });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  cpuMs(1000);
  const small = cpuMs(3000);
  // Sixteen times the text takes 256 times as long if the work grows with the square.
  expect(cpuMs(48_000)).toBeLessThan(Math.max(10, small) * 80);
});
