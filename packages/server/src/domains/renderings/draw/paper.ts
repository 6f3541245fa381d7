/** Puts cards on a picture, or on pages that break between cards. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Resvg } from '@resvg/resvg-js';
import type { PlacedCard } from './board.ts';
import { FONT_FAMILY, FONT_FILES, widthOf, withBoxes } from './fonts.ts';
import { type PdfPage, writePdf } from './pdf.ts';
import type { Look, Plot } from './pieces.ts';
import { pngWithPalette } from './png.ts';
import { drawLine, drawLines, fit, lineHeight, round, type TextStyle, wrap } from './texts.ts';

/** As wide as a page on a screen. */
export const WIDTH = 1200;
const MARGIN = 20;
export const INSIDE = WIDTH - 2 * MARGIN;
const GAP = 16;
const DENSITY = 2;
/**
 * The most pixels of a picture: four bytes each, in memory. A longer dashboard is drawn less densely, and then not at
 * all.
 */
const PIXELS_MAX = 32_000_000;
const PAGES_MAX = 60;
/** A4, sideways, in points. */
const SHEET = { width: 842, height: 595, margin: 24 };

export interface Head {
  title: string;
  description: string;
  inForce: { title: string; text: string }[];
  asOf: string;
}

export class TooLargeError extends Error {}
export class BlankError extends Error {
  readonly title: string;

  constructor(reason: string, title = '') {
    super(reason);
    this.title = title;
  }
}

interface DrawnBlock {
  svg: string;
  height: number;
}

function drawHead({ title, description, inForce, asOf }: Head, { tokens }: Look): DrawnBlock {
  const large: TextStyle = { size: 22, weight: 600, color: tokens.ink, line: 28 };
  const soft: TextStyle = { size: 14, color: tokens.inkSoft, line: 20 };
  const small: TextStyle = { size: 12, color: tokens.inkSoft, line: 18 };
  const right = WIDTH - MARGIN;
  const room = INSIDE - widthOf(asOf, small.size) - GAP;
  const titles = wrap(title, room, large, 3);
  const words = description ? wrap(description, INSIDE, soft, 4) : [];
  const parts = [drawLines(titles, MARGIN, MARGIN, large), drawLine(asOf, right, MARGIN + 5, small, 'end')];
  let top = MARGIN + titles.length * lineHeight(large);
  parts.push(drawLines(words, MARGIN, top, soft));
  top += words.length * lineHeight(soft);
  let x = MARGIN;
  for (const [i, each] of inForce.entries()) {
    const label = `${each.title}: `;
    const text = fit(each.text, INSIDE - widthOf(label, 12), { size: 12, weight: 600 });
    const width = widthOf(label, 12) + widthOf(text, 12, 600);
    if (i > 0 && x + width > right) {
      x = MARGIN;
      top += 18;
    }
    if (i === 0) top += 4;
    parts.push(drawLine(label, x, top, small));
    parts.push(drawLine(text, x + widthOf(label, 12), top, { ...small, weight: 600 }));
    x += width + 14;
  }
  if (inForce.length) top += 18;
  return { svg: parts.join(''), height: top };
}

const documentOf = (content: string, height: number, { tokens }: Look) =>
  withBoxes(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${WIDTH}" height="${round(height)}" viewBox="0 0 ${WIDTH} ${round(height)}" font-family="${FONT_FAMILY}"><rect width="${WIDTH}" height="${round(height)}" fill="${tokens.background}"/>${content}</svg>`,
  );

const at = ({ svg }: { svg: string }, dy: number) =>
  `<g transform="translate(${MARGIN},${round(dy)})">${svg}</g>`;

/** Native code draws each dash and each layer that is blended, and cannot be ended while it does. */
const DASHES = / stroke-dasharray="([^"]*)"/g;
const BLENDS = /mix-blend-mode:[^;"]*;?/g;
const DASHED_MAX = 2000;
const BLENDED_MAX = 20;
const countIn = (text: string, what: RegExp) => text.match(what)?.length ?? 0;
/** The lengths may have exponents. What cannot be read is too fine. */
const isTooFine = (lengths: string) =>
  !(lengths.split(/[\s,]+/).reduce((sum, one) => sum + Number(one), 0) >= 1);

/** Without dashes that are too fine or too many, and without blending if many elements are blended. */
export function withinNative(svg: string): string {
  const isDashed = countIn(svg, DASHES) <= DASHED_MAX;
  const plain = svg.replace(DASHES, (dashes, lengths) => (isDashed && !isTooFine(lengths) ? dashes : ''));
  return countIn(plain, BLENDS) <= BLENDED_MAX ? plain : plain.replace(BLENDS, '');
}

function rasterOf(svg: string, density: number, plots: readonly Plot[], { tokens }: Look) {
  const image = new Resvg(withinNative(svg), {
    font: { fontFiles: FONT_FILES, loadSystemFonts: false, defaultFontFamily: FONT_FAMILY },
    fitTo: { mode: 'zoom', value: density },
    logLevel: 'off',
  }).render();
  // Each time, `pixels` is another copy.
  const { pixels, width, height } = image;
  requireMoreThanOneColor(pixels);
  for (const plot of plots) requirePlot(pixels, width, density, plot, tokens.surface);
  return { image, pixels, width, height };
}

/** A picture of one colour shows nothing, whatever the reason. */
export function requireMoreThanOneColor(pixels: Buffer) {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength >> 2);
  if (words.every((word) => word === words[0])) throw new BlankError('the picture has one colour only');
}

/** A chart that has rows and shows nothing but the colour of its card was not drawn, whatever the reason. */
export function requirePlot(
  pixels: Buffer,
  wide: number,
  density: number,
  { x, y, width, height, title }: Plot,
  surface: string,
) {
  const color = Buffer.from(`${surface.slice(1, 7)}ff`, 'hex');
  const [left, top, right, bottom] = [x, y, x + width, y + height].map((at) => Math.round(at * density));
  for (let row = top!; row < bottom!; row++)
    for (let from = (row * wide + left!) * 4; from < (row * wide + right!) * 4; from += 4)
      if (pixels.compare(color, 0, 4, from, from + 4) !== 0) return;
  if (bottom! > top! && right! > left!)
    throw new BlankError('its chart is empty although it has rows', title);
}

const moved = ({ plots }: { plots: readonly Plot[] }, dx: number, dy: number, scale = 1) =>
  plots.map((plot) => ({
    ...plot,
    x: dx + (plot.x + MARGIN) * scale,
    y: dy + plot.y * scale,
    width: plot.width * scale,
    height: plot.height * scale,
  }));

export function drawPng(head: Head, cards: readonly PlacedCard[], look: Look) {
  const top = drawHead(head, look);
  const bottom = Math.max(0, ...cards.map(({ y, height }) => y + height));
  const height = Math.ceil(top.height + GAP + bottom + MARGIN);
  const density = Math.min(DENSITY, Math.sqrt(PIXELS_MAX / (WIDTH * height)));
  if (density < 1) throw new TooLargeError('the dashboard is too long for a picture');
  const content = top.svg + cards.map((card) => at(card, top.height + GAP)).join('');
  const plots = cards.flatMap((card) => moved(card, 0, top.height + GAP));
  const picture = rasterOf(documentOf(content, height, look), density, plots, look);
  return { bytes: pngWithPalette(picture) ?? picture.image.asPng(), width: WIDTH, height };
}

/** Cards whose heights overlap stay together. */
export function bandsOf(cards: readonly PlacedCard[]): { from: number; to: number; cards: PlacedCard[] }[] {
  const bands: { from: number; to: number; cards: PlacedCard[] }[] = [];
  for (const card of cards.toSorted((a, b) => a.y - b.y)) {
    const last = bands.at(-1);
    if (last && card.y < last.to) {
      last.cards.push(card);
      last.to = Math.max(last.to, card.y + card.height);
    } else bands.push({ from: card.y, to: card.y + card.height, cards: [card] });
  }
  return bands;
}

export async function drawPdf(head: Head, cards: readonly PlacedCard[], look: Look) {
  const scale = (SHEET.width - 2 * SHEET.margin) / WIDTH;
  const sheet = (SHEET.height - 2 * SHEET.margin) / scale;
  const footer = 24;
  const first = drawHead(head, look);
  // Later pages say what they are about in one line with the filters, and the time.
  const again = drawHead({ ...head, description: '' }, look);
  const pages: { head: DrawnBlock; bands: ReturnType<typeof bandsOf> }[] = [{ head: first, bands: [] }];
  const roomOf = (page: { head: DrawnBlock }) => sheet - page.head.height - GAP - footer;
  for (const band of bandsOf(cards)) {
    const page = pages.at(-1)!;
    const from = page.bands[0]?.from ?? band.from;
    if (page.bands.length && band.to - from > roomOf(page)) pages.push({ head: again, bands: [band] });
    else page.bands.push(band);
  }
  if (pages.length > PAGES_MAX) throw new TooLargeError(`the dashboard has more than ${PAGES_MAX} pages`);
  const small: TextStyle = { size: 12, color: look.tokens.inkSoft, line: 18 };
  const sheetOf = (page: (typeof pages)[number], i: number): PdfPage => {
    const from = page.bands[0]?.from ?? 0;
    const high = (page.bands.at(-1)?.to ?? 0) - from;
    // Cards that are higher than a page are made smaller.
    const shrink = Math.min(1, roomOf(page) / Math.max(1, high));
    const top = page.head.height + GAP;
    const left = (WIDTH * (1 - shrink)) / 2;
    const content = page.bands.flatMap((band) => band.cards.map((card) => at(card, -from))).join('');
    const number = `${i + 1} / ${pages.length}`;
    const svg = documentOf(
      page.head.svg +
        `<g transform="translate(${round(left)},${round(top)}) scale(${shrink})">${content}</g>` +
        drawLine(number, WIDTH - MARGIN, sheet - 20, small, 'end'),
      sheet,
      look,
    );
    const plots = page.bands.flatMap((band) =>
      band.cards.flatMap((card) => moved(card, left, top - from * shrink, shrink)),
    );
    const { pixels, width, height } = rasterOf(svg, DENSITY, plots, look);
    return { pixels, width, height };
  };
  async function* sheets() {
    for (const [i, page] of pages.entries()) {
      yield sheetOf(page, i);
      // The memory of pictures is outside of the heap, and is given back between two turns of the loop.
      await nextTurn();
    }
  }
  return {
    bytes: await writePdf(pages.length, sheets(), {
      ...SHEET,
      title: head.title,
      background: look.tokens.background,
    }),
    width: WIDTH,
    height: Math.round(sheet),
  };
}
