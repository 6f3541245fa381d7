/**
 * Writes pictures of dashboards as PNG with a palette. Charts and texts have a few colours and the shades between them, so that this
 * takes a third of the bytes, of which each reader of a mail gets a copy.
 */
import { constants, crc32, deflateSync } from 'node:zlib';

export interface Picture {
  /** Red, green, blue and opacity of each pixel. */
  pixels: Buffer;
  width: number;
  height: number;
}

const PALETTE_MAX = 256;
/** The most frequent ones are shown as they are. */
const EXACT = 128;
/** Pictures with more have photographs in them. */
const COLORS_MAX = 4096;
/**
 * How far a shade may be from the colour that replaces it, in each of red, green and blue. The first difference with
 * which all colours fit into the palette is used.
 */
const DIFFERENCES = [0, 2, 4, 6, 8, 12];
const KNOWN = 4096;

/** Nothing if a palette would change how it looks, or if it can be seen through. */
export function pngWithPalette({ pixels, width, height }: Picture): Buffer | undefined {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.byteLength >> 2);
  const found = colorsOf(words);
  const palette = found && paletteOf(found.colors, found.counts);
  if (!palette) return undefined;
  const { numbers } = found;
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0, from = 0; y < height; y++) {
    // Each row begins with its filter, which is none.
    const start = y * (width + 1) + 1;
    for (let x = 0; x < width; x++) rows[start + x] = palette.places[numbers[from++]!]!;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  const data = deflateSync(rows, { level: 6, memLevel: constants.Z_MAX_MEMLEVEL });
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', palette.bytes),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, check]);
}

/** The number of the colour of each pixel, in the order in which they are found, and how often each is there. */
function colorsOf(words: Uint32Array) {
  const numbers = new Uint16Array(words.length);
  const colors: number[] = [];
  const counts: number[] = [];
  const numberOf = new Map<number, number>();
  // Most colours are found here, which is much faster than the map.
  const keys = new Uint32Array(KNOWN);
  const values = new Uint16Array(KNOWN);
  // An empty cache would answer for colour 0, because all its keys are 0. The place of that colour gets key 1: colour 1
  // has another place.
  keys[0] = 1;
  let last = 0;
  let number = -1;
  let since = 0;
  for (let i = 0; i < words.length; i++) {
    const color = words[i]!;
    if (color !== last || number < 0) {
      if (number >= 0) counts[number]! += i - since;
      since = i;
      last = color;
      const at = Math.imul(color, 0x9e3779b1) >>> 20;
      if (keys[at] === color) number = values[at]!;
      else {
        number = numberOf.get(color) ?? colors.length;
        if (number === colors.length) {
          if (number === COLORS_MAX || opacityOf(color) !== 255) return undefined;
          numberOf.set(color, number);
          colors.push(color);
          counts.push(0);
        }
        keys[at] = color;
        values[at] = number;
      }
    }
    numbers[i] = number;
  }
  counts[number]! += words.length - since;
  return { numbers, colors, counts };
}

// Pixels are read as numbers whose lowest byte is red, on every processor that Node runs on with this part.
const red = (color: number) => color & 255;
const green = (color: number) => (color >>> 8) & 255;
const blue = (color: number) => (color >>> 16) & 255;
const opacityOf = (color: number) => color >>> 24;

const differenceOf = (a: number, b: number) =>
  Math.max(Math.abs(red(a) - red(b)), Math.abs(green(a) - green(b)), Math.abs(blue(a) - blue(b)));

/** The most frequent colours, and for each colour its place among them or that of one like it. */
function paletteOf(colors: readonly number[], counts: readonly number[]) {
  const order = colors.map((_, number) => number).sort((a, b) => counts[b]! - counts[a]!);
  const places = new Uint8Array(colors.length);
  for (const difference of DIFFERENCES) {
    const chosen: number[] = [];
    const isFull = order.some((number) => {
      const color = colors[number]!;
      let place =
        chosen.length < EXACT ? -1 : chosen.findIndex((other) => differenceOf(color, other) <= difference);
      if (place < 0) place = chosen.push(color) - 1;
      places[number] = place;
      return place === PALETTE_MAX;
    });
    if (isFull) continue;
    return { places, bytes: Buffer.from(chosen.flatMap((color) => [red(color), green(color), blue(color)])) };
  }
  return undefined;
}
