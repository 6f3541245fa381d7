/** Texts of widgets: Markdown, whose elements are the same as in pages, and HTML, of which the words are kept. */
import { markdownElements } from '@oriel/charts/pure';
import { widthOf } from './fonts.ts';
import type { Look, Piece } from './pieces.ts';
import { drawLine, drawLines, type TextStyle, wrap } from './texts.ts';

interface Element {
  name: string;
  children: readonly (Element | string)[];
}

/** Links are words in a picture. */
const MAKING = {
  h: (name: string, _properties: object, children: Element['children']): Element => ({ name, children }),
  linkOf: () => undefined,
};

const isElement = (node: Element | string): node is Element => typeof node !== 'string';

/** The words of an element and of all in it. */
const innerText = (node: Element | string): string =>
  isElement(node) ? node.children.map(innerText).join('') : node;

interface Block {
  height: number;
  draw(x: number, y: number): string;
}

const GAP = 7;
const INDENT = 20;
/** A line of text is at most so wide, or it is hard to read. */
const MEASURE = 80;

export function markdownPiece(text: string, width: number, look: Look): Piece {
  return stacked(markdownElements(text, MAKING).flatMap((node) => blocksOf(node, width, look)));
}

function stacked(blocks: readonly Block[]): Piece {
  return {
    least: blocks.reduce((sum, { height }) => sum + height + GAP, -GAP),
    draw({ x, y, height }) {
      let top = y;
      return blocks
        .filter((block) => {
          top += block.height + GAP;
          return top - GAP <= y + height + 1;
        })
        .map((block, i) =>
          block.draw(x, y + blocks.slice(0, i).reduce((sum, { height }) => sum + height + GAP, 0)),
        )
        .join('');
    },
  };
}

function blocksOf(node: Element, width: number, { tokens }: Look): Block[] {
  const body: TextStyle = { size: 14, color: tokens.ink };
  const wide = Math.min(width, widthOf('0', body.size) * MEASURE);
  const [, level] = /^h(\d)$/.exec(node.name) ?? [];
  if (level) {
    const size = { 2: 18, 3: 16 }[level] ?? 14;
    return [paragraph(innerText(node), width, { size, weight: 600, color: tokens.ink })];
  }
  switch (node.name) {
    case 'ul':
    case 'ol':
      return node.children
        .filter(isElement)
        .map((item, i) => bulleted(innerText(item), node.name === 'ol' ? `${i + 1}.` : '•', wide, body));
    case 'hr':
      return [
        {
          height: 9,
          draw: (x, y) => `<rect x="${x}" y="${y + 4}" width="${width}" height="1" fill="${tokens.line}"/>`,
        },
      ];
    case 'blockquote': {
      const quoted = paragraph(innerText(node), wide - 15, { ...body, color: tokens.inkSoft });
      const bar = (x: number, y: number) =>
        `<rect x="${x}" y="${y}" width="3" height="${quoted.height}" fill="${tokens.line}"/>`;
      return [{ height: quoted.height, draw: (x, y) => bar(x, y) + quoted.draw(x + 15, y) }];
    }
    case 'pre':
      return [preformatted(innerText(node), { ...body, size: 12 })];
    case 'table':
      return tableRows(node).map((cells, i) =>
        gridLine(cells, width, { ...body, size: 13, weight: i === 0 ? 600 : 400 }, tokens.line),
      );
    default:
      return [paragraph(innerText(node), wide, body)];
  }
}

function paragraph(text: string, width: number, style: TextStyle): Block {
  const lines = wrap(text, width, style, 200);
  const line = Math.round(style.size * 1.45);
  return { height: lines.length * line, draw: (x, y) => drawLines(lines, x, y, { ...style, line }) };
}

function bulleted(text: string, sign: string, width: number, style: TextStyle): Block {
  const block = paragraph(text, width - INDENT, style);
  return {
    height: block.height,
    draw: (x, y) => drawLine(sign, x + 4, y, style) + block.draw(x + INDENT, y),
  };
}

function preformatted(text: string, style: TextStyle): Block {
  const lines = text.split('\n').slice(0, 100);
  return { height: lines.length * 18, draw: (x, y) => drawLines(lines, x, y, { ...style, line: 18 }) };
}

const tableRows = (node: Element): string[][] =>
  node.children
    .filter(isElement)
    .flatMap((part) => part.children.filter(isElement))
    .map((row) => row.children.map(innerText));

function gridLine(cells: readonly string[], width: number, style: TextStyle, line: string): Block {
  const own = width / Math.max(1, cells.length);
  const wrapped = cells.map((cell) => wrap(cell, own - 12, style, 4));
  const height = Math.max(1, ...wrapped.map(({ length }) => length)) * 19 + 8;
  return {
    height,
    draw: (x, y) =>
      wrapped.map((lines, i) => drawLines(lines, x + i * own, y + 4, { ...style, line: 19 })).join('') +
      `<rect x="${x}" y="${y + height - 1}" width="${width}" height="1" fill="${line}"/>`,
  };
}

const BREAKS = /<(?:br|\/p|\/div|\/li|\/h[1-6]|\/tr|\/section|\/blockquote)\b[^>]*>/gi;
const DROPPED = /<(script|style|template|iframe|object|noscript|svg|math|title|head)\b[\s\S]*?<\/\1\s*>/gi;
const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: '\u00a0',
  '#39': "'",
};

/** The words of HTML, a line for each block. Its styles need a browser. */
export function htmlPiece(html: string, width: number, { tokens }: Look): Piece {
  const lines = html
    .slice(0, 200_000)
    .replaceAll(DROPPED, '')
    .replaceAll(BREAKS, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(#?\w+);/g, (all, name: string) => ENTITIES[name] ?? all)
    .split('\n')
    .map((line) => line.replaceAll(/[ \t]+/g, ' ').trim())
    .filter(Boolean);
  return stacked(lines.map((line) => paragraph(line, width, { size: 14, color: tokens.ink })));
}
