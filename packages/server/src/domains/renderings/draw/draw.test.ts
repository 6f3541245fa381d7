/** What pictures are made of. */
import { inflateSync } from 'node:zlib';
import { Resvg } from '@resvg/resvg-js';
import { describe, expect, test } from 'vitest';
import { within } from './chart.ts';
import { FONT_FAMILY, FONT_FILES, widthOf, withBoxes } from './fonts.ts';
import { bandsOf, requireMoreThanOneColor, requirePlot, withinNative } from './paper.ts';
import { writePdf } from './pdf.ts';
import { pngWithPalette } from './png.ts';
import { escapeXml, fit, wrap } from './texts.ts';

const font = { fontFiles: FONT_FILES, loadSystemFonts: false, defaultFontFamily: FONT_FAMILY };
const drawnWidth = (text: string, size: number, weight: number) => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="100" font-family="${FONT_FAMILY}"><text x="0" y="50" font-size="${size}" font-weight="${weight}">${escapeXml(text)}</text></svg>`;
  return new Resvg(svg, { font }).getBBox()!.width;
};

test.each([
  ['Revenue by category, 2026', 400],
  ['$1,234,567.89', 600],
  ['Umsatz für März & Änderungen', 400],
  ['売上高の推移 2026年', 400],
  ['売上高の推移', 600],
])('%s (%i) is as wide as the fonts say', (text, weight) => {
  const [told, drawn] = [widthOf(text, 40, weight), drawnWidth(text, 40, weight)];
  expect(Math.abs(told - drawn) / drawn).toBeLessThan(0.06);
});

test('dashes that are too fine or too many are drawn as lines, and much blending as none', () => {
  const lines = (count: number, dashes: string) => `<path stroke-dasharray="${dashes}"/>`.repeat(count);
  expect(withinNative(lines(2, '4,2') + lines(1, '0.002,0.002') + lines(1, '5e-7 5e-7'))).toBe(
    `${lines(2, '4,2')}<path/><path/>`,
  );
  expect(withinNative(lines(2001, '4 2'))).toBe('<path/>'.repeat(2001));
  const blended = (count: number) => '<g style="mix-blend-mode: multiply;"/>'.repeat(count);
  expect(withinNative(blended(20))).toBe(blended(20));
  expect(withinNative(blended(21))).toBe('<g style=""/>'.repeat(21));
});

test('letters that no font has are drawn as boxes, and not left out', () => {
  expect(withBoxes('Wien 東京 Αθήνα Київ')).toBe('Wien 東京 Αθήνα Київ');
  expect(withBoxes('서울 🙂')).toBe('□□ □');
});

test('texts break between words, within long words and between letters of Japanese, and end with dots', () => {
  const style = { size: 14, color: '#000000' };
  for (const text of [
    'one two three four five six seven',
    'a'.repeat(100),
    '売上高の推移と前年同期比の内訳',
  ]) {
    const lines = wrap(text, 100, style);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    for (const line of lines) expect(widthOf(line, 14)).toBeLessThanOrEqual(100);
    const two = wrap(text, 100, style, 2);
    expect([two.length, two[1]!.endsWith('…')]).toEqual([2, lines.length > 2]);
  }
  expect(widthOf(fit('much too long for this', 60, style), 14)).toBeLessThanOrEqual(60);
});

describe('a chart among others', () => {
  test('names no file, address or link, however it is written', () => {
    const svg = `<svg width="1" height="1"><image xlink:href="/etc/secret.png" width="1"/><IMAGE href="x"></IMAGE><a href="https://example.com"><text>a</text></a><rect fill="url(file:///x)"/><rect fill='url("http://x/y")'/><use href="/x.svg#a"/></svg>`;
    const kept = within(svg, 'w0');
    expect(kept).not.toMatch(/image|href|file:|http|<a/i);
    expect(kept).toContain('<text>a</text>');
  });
  test('keeps its names apart from those of others', () => {
    const svg = `<svg><clipPath id="clip1"/><g clip-path="url(#clip1)"/></svg>`;
    expect(within(svg, 'w3')).toBe('<clipPath id="w3-clip1"/><g clip-path="url(#w3-clip1)"/>');
  });
});

test('a picture of one colour is refused', () => {
  const pixels = Buffer.alloc(400, 7);
  expect(() => requireMoreThanOneColor(pixels)).toThrow('one colour');
  pixels[200] = 8;
  expect(() => requireMoreThanOneColor(pixels)).not.toThrow();
});

test('a chart of which nothing but its card is there is refused, whatever is around it', () => {
  const pixels = Buffer.alloc(20 * 10 * 4, 255);
  const plot = { x: 2, y: 1, width: 5, height: 3, title: 'Revenue' };
  // A title above it, and another card beside it.
  pixels.fill(0, 0, 20 * 4);
  pixels.fill(0, (4 * 20 + 16) * 4, (4 * 20 + 20) * 4);
  const look = (surface: string) => () => requirePlot(pixels, 20, 2, plot, surface);
  expect(look('#ffffff')).toThrow('empty');
  expect(look('#101010')).not.toThrow();
  pixels[(5 * 20 + 9) * 4] = 0;
  expect(look('#ffffff')).not.toThrow();
});

test('pages break between cards only', () => {
  const card = (y: number, height: number) => ({ x: 0, y, width: 1, height, svg: '', plots: [] });
  const bands = bandsOf([card(0, 100), card(0, 50), card(60, 100), card(170, 20), card(200, 10)]);
  expect(bands.map(({ from, to, cards }) => [from, to, cards.length])).toEqual([
    [0, 160, 3],
    [170, 190, 1],
    [200, 210, 1],
  ]);
});

test('every object of a PDF is where its table says', async () => {
  const page = { pixels: Buffer.alloc(16, 200), width: 2, height: 2 };
  const sheet = { width: 842, height: 595, margin: 24, title: '売上 (1)', background: '#ffffff' };
  const pdf = (await writePdf(2, [page, page], sheet)).toString('latin1');
  const start = Number(/startxref\n(\d+)/.exec(pdf)![1]);
  expect(pdf.slice(start, start + 4)).toBe('xref');
  const entries = [...pdf.slice(start).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
  expect(entries).toHaveLength(9);
  for (const [i, offset] of entries.entries())
    expect(pdf.slice(offset)).toMatch(new RegExp(`^${i + 1} 0 obj\n`));
  for (const [, length, data] of pdf.matchAll(/\/Length (\d+)>>\nstream\n([\s\S]*?)\nendstream/g))
    expect(data!.length).toBe(Number(length));
});

test('the pixels of a page are needed only until the next one is asked for', async () => {
  const pixels = Buffer.alloc(16);
  function* pages() {
    for (const shade of [1, 2, 3]) yield { pixels: pixels.fill(shade), width: 2, height: 2 };
  }
  const sheet = { width: 842, height: 595, margin: 24, title: 'Sales', background: '#ffffff' };
  const pdf = await writePdf(3, pages(), sheet);
  const shades = [...pdf.toString('latin1').matchAll(/FlateDecode\/Length (\d+)>>\nstream\n/g)].map(
    (found) => {
      const from = found.index + found[0].length;
      return inflateSync(pdf.subarray(from, from + Number(found[1])))[0];
    },
  );
  expect(shades).toEqual([1, 2, 3]);
});

describe('a PNG with a palette', () => {
  const [width, height] = [64, 48];
  /** As a program shows it. */
  const shown = (png: Buffer) => {
    const href = `data:image/png;base64,${png.toString('base64')}`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" href="${href}"/></svg>`;
    return new Resvg(svg).render().pixels;
  };
  const pixelsOf = (colorAt: (i: number) => number[]) =>
    Buffer.from(Array.from({ length: width * height }, (_, i) => [...colorAt(i), 255]).flat());
  const pictureOf = (colorAt: (i: number) => number[]) => ({ pixels: pixelsOf(colorAt), width, height });

  test('shows a picture of few colours exactly as it is', () => {
    const picture = pictureOf((i) => [i % 16, 200 - (i % 7), 7]);
    expect(shown(pngWithPalette(picture)!).equals(picture.pixels)).toBe(true);
  });
  test('shows frequent colours exactly, and the shades between them so that nobody sees a difference', () => {
    // 1,000 shades in the first rows, and one colour everywhere else.
    const picture = pictureOf((i) => (i < 1000 ? [i % 250, i % 250, Math.floor(i / 250)] : [52, 81, 198]));
    const after = shown(pngWithPalette(picture)!);
    expect(after.subarray(4000).equals(picture.pixels.subarray(4000))).toBe(true);
    for (const [i, value] of after.entries())
      expect(Math.abs(value - picture.pixels[i]!)).toBeLessThanOrEqual(12);
  });
  test('is not made of photographs, and of what can be seen through', () => {
    expect(
      pngWithPalette(pictureOf((i) => [(i % 64) * 4, Math.floor(i / 64) * 5, (i * 37) % 256])),
    ).toBeUndefined();
    for (const opacity of [128, 0]) {
      const pixels = pixelsOf(() => [0, 0, 0]);
      pixels[7] = opacity;
      expect(pngWithPalette({ pixels, width, height })).toBeUndefined();
    }
  });
});
