/** Lines of text in pictures: how they break, and how they are drawn. */
import { BOLD, widthOf } from './fonts.ts';

export interface TextStyle {
  size: number;
  weight?: number;
  color: string;
  /** From one line to the next. */
  line?: number;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Without what XML does not allow. */
export const escapeXml = (text: string) =>
  text
    .replaceAll(/[&<>"]/g, (letter) => ESCAPES[letter]!)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '');

export const lineHeight = ({ size, line }: TextStyle) => line ?? Math.round(size * 1.45);

type Anchor = 'start' | 'middle' | 'end';

/** One line, whose letters stand in the middle of the height of the line. */
export function drawLine(text: string, x: number, top: number, style: TextStyle, anchor: Anchor = 'start') {
  const { size, weight = 400, color } = style;
  const baseline = top + (lineHeight(style) - size) / 2 + size * 0.84;
  const bold = weight >= BOLD ? ` font-weight="${weight}"` : '';
  const at = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(baseline)}" font-size="${size}" fill="${color}"${bold}${at} xml:space="preserve">${escapeXml(text)}</text>`;
}

export const round = (value: number) => Math.round(value * 100) / 100;

/** Japanese and the like have no spaces, and break between any two letters. */
const WORDS =
  /\s+|[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+/g;

/** Breaks between words, and within words that are wider than the line. With more lines than `max`, the last one is cut. */
export function wrap(text: string, width: number, { size, weight }: TextStyle, max = 1000): string[] {
  const lines: string[] = [];
  let line = '';
  const wide = (candidate: string) => widthOf(candidate, size, weight) > width;
  for (let word of text.trim().match(WORDS) ?? []) {
    if (/^\s/.test(word)) word = ' ';
    if (!wide(line + word) || word === ' ') {
      if (word !== ' ' || line) line += word;
      continue;
    }
    if (line.trim()) lines.push(line.trim());
    line = word;
    while (wide(line) && line.length > 1) {
      const part = longestFitting(line, width, size, weight);
      lines.push(part);
      line = line.slice(part.length);
      if (lines.length > max) break;
    }
    if (lines.length > max) break;
  }
  if (line.trim()) lines.push(line.trim());
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max - 1), fit(lines.slice(max - 1).join(' '), width, { size, weight })];
}

function longestFitting(text: string, width: number, size: number, weight: number | undefined): string {
  let used = 0;
  let end = 0;
  for (const letter of text) {
    used += widthOf(letter, size, weight);
    if (used > width && end > 0) break;
    end += letter.length;
  }
  return text.slice(0, end);
}

/** One line that ends with dots if it would be wider. */
export function fit(
  text: string,
  width: number,
  { size, weight }: Pick<TextStyle, 'size' | 'weight'>,
): string {
  if (widthOf(text, size, weight) <= width) return text;
  return `${longestFitting(text, width - widthOf('…', size, weight), size, weight).trimEnd()}…`;
}

export const drawLines = (lines: readonly string[], x: number, top: number, style: TextStyle) =>
  lines.map((line, i) => drawLine(line, x, top + i * lineHeight(style), style)).join('');
