/**
 * How wide texts are in the fonts that come with the server. Pictures look alike on every machine, because no other fonts are
 * used.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Inter has Latin, Greek and Cyrillic letters; M PLUS 1p has Japanese ones, and is used for what Inter lacks. */
export const FONT_FAMILY = 'Inter';
const FILES = {
  regular: ['Inter_400Regular.ttf', 'MPLUS1p_400Regular.ttf'],
  bold: ['Inter_600SemiBold.ttf', 'MPLUS1p_700Bold.ttf'],
};
/** The build puts them beside the thread. Tests run the sources. */
const FOLDER = join(
  import.meta.dirname,
  import.meta.url.endsWith('.ts') ? '../../../../dist/fonts' : 'fonts',
);
export const FONT_FILES = Object.values(FILES)
  .flat()
  .map((name) => join(FOLDER, name));

/** From here on, a weight is bold. */
export const BOLD = 600;

interface Face {
  unitsPerEm: number;
  /** Undefined if the font has no such letter. */
  advanceOf(codePoint: number): number | undefined;
}

/** Reads the tables `head`, `hhea`, `hmtx` and `cmap` of a TrueType font. */
export function readFace(file: Buffer): Face {
  const tables = new Map<string, number>();
  for (let i = 0; i < file.readUInt16BE(4); i++) {
    const at = 12 + i * 16;
    tables.set(file.toString('latin1', at, at + 4), file.readUInt32BE(at + 8));
  }
  const [head, hhea, hmtx, cmap] = ['head', 'hhea', 'hmtx', 'cmap'].map((name) => tables.get(name)!) as [
    number,
    number,
    number,
    number,
  ];
  const metrics = file.readUInt16BE(hhea + 34);
  const glyphOf = glyphsOf(file, cmap);
  return {
    unitsPerEm: file.readUInt16BE(head + 18),
    advanceOf(codePoint) {
      const glyph = glyphOf(codePoint);
      return glyph ? file.readUInt16BE(hmtx + 4 * Math.min(glyph, metrics - 1)) : undefined;
    },
  };
}

/** From code points to glyphs; 0 is none. Format 12 has all planes, format 4 the first one. */
function glyphsOf(file: Buffer, cmap: number): (codePoint: number) => number {
  const subtables = Array.from({ length: file.readUInt16BE(cmap + 2) }, (_, i) => {
    const at = cmap + file.readUInt32BE(cmap + 8 + i * 8);
    return { at, format: file.readUInt16BE(at) };
  });
  const whole = subtables.find(({ format }) => format === 12)?.at;
  if (whole !== undefined) {
    const groups = file.readUInt32BE(whole + 12);
    const group = (i: number) => whole + 16 + i * 12;
    return (codePoint) => {
      let [low, high] = [0, groups - 1];
      while (low <= high) {
        const middle = (low + high) >> 1;
        const at = group(middle);
        if (codePoint < file.readUInt32BE(at)) high = middle - 1;
        else if (codePoint > file.readUInt32BE(at + 4)) low = middle + 1;
        else return file.readUInt32BE(at + 8) + codePoint - file.readUInt32BE(at);
      }
      return 0;
    };
  }
  const plain = subtables.find(({ format }) => format === 4)?.at;
  if (plain === undefined) throw new Error('the font has no table of letters that can be read');
  const segments = file.readUInt16BE(plain + 6) / 2;
  const [ends, starts] = [plain + 14, plain + 16 + segments * 2];
  const [deltas, offsets] = [starts + segments * 2, starts + segments * 4];
  return (codePoint) => {
    for (let i = 0; i < segments; i++) {
      if (codePoint > file.readUInt16BE(ends + i * 2)) continue;
      const start = file.readUInt16BE(starts + i * 2);
      if (codePoint < start) return 0;
      const delta = file.readUInt16BE(deltas + i * 2);
      const offset = file.readUInt16BE(offsets + i * 2);
      if (offset === 0) return (codePoint + delta) & 0xffff;
      const glyph = file.readUInt16BE(offsets + i * 2 + offset + (codePoint - start) * 2);
      return glyph && (glyph + delta) & 0xffff;
    }
    return 0;
  };
}

type Style = keyof typeof FILES;
const faces = new Map<Style, Face[]>();
const facesOf = (style: Style): Face[] => {
  const known = faces.get(style) ?? FILES[style].map((name) => readFace(readFileSync(join(FOLDER, name))));
  faces.set(style, known);
  return known;
};

const widths: Record<Style, Map<number, number>> = { regular: new Map(), bold: new Map() };

/** The width of a letter as a part of the font size. Letters that no font has are drawn as a box. */
function emOf(codePoint: number, style: Style): number {
  const known = widths[style].get(codePoint);
  if (known !== undefined) return known;
  const face = facesOf(style).find(({ advanceOf }) => advanceOf(codePoint) !== undefined);
  const em = face ? face.advanceOf(codePoint)! / face.unitsPerEm : 0.6;
  widths[style].set(codePoint, em);
  return em;
}

export function widthOf(text: string, size: number, weight = 400): number {
  const style = weight >= BOLD ? 'bold' : 'regular';
  let width = 0;
  for (const letter of text) width += emOf(letter.codePointAt(0)!, style);
  return width * size;
}

const BOX = '□';
const isDrawn = new Map<number, boolean>();

/** Puts a box in the place of letters that no font has: they would be left out without a trace. */
export const withBoxes = (text: string) =>
  text.replaceAll(/[^\p{ASCII}]/gu, (letter) => {
    const codePoint = letter.codePointAt(0)!;
    // Marks that change the letter before them, and direction marks.
    if (/[\p{M}\p{Cf}]/u.test(letter)) return letter;
    const known =
      isDrawn.get(codePoint) ??
      facesOf('regular').some(({ advanceOf }) => advanceOf(codePoint) !== undefined);
    isDrawn.set(codePoint, known);
    return known ? letter : BOX;
  });
