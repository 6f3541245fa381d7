/** Pictures in texts of a dashboard. They are part of it: a page loads nothing from elsewhere. */
import type { Widget } from './types.ts';

/** The longest text of a picture, about three quarters of this in bytes. */
export const PICTURE_MAX = 300_000;

/** A few bytes can be many pixels, and each takes memory where it is drawn. */
export const PICTURE_PIXELS_MAX = 4_000_000;
/** The limit for all pictures of a dashboard together. */
export const BOARD_PIXELS_MAX = 16_000_000;

const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

export const isPicture = (text: unknown): text is string => pixelsOf(text) <= PICTURE_PIXELS_MAX;

/** Reads the number of pixels from the bytes of the picture; infinite if they are not those of such a picture. */
export function pixelsOf(text: unknown): number {
  const [, format, data] =
    (typeof text === 'string' && text.length <= PICTURE_MAX && PICTURE.exec(text)) || [];
  const [width, height] = (format && data && sizeOf(format, data)) || [];
  return width && height ? width * height : Number.POSITIVE_INFINITY;
}

/** The picture of a text widget that has one in place of words. */
export function pictureOf(config: Widget['config']): { source: string; alt: string } | undefined {
  const source: unknown = config?.image;
  return isPicture(source) ? { source, alt: String(config?.alt ?? '') } : undefined;
}

type Size = [width: number, height: number];

function sizeOf(format: string, data: string): Size | undefined {
  // PNG and WebP have their size at the beginning.
  const isWhole = format === 'jpeg' || format === 'gif';
  let text: string;
  try {
    text = atob(isWhole ? data : data.slice(0, 64));
  } catch {
    return undefined;
  }
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  try {
    return READERS[format]!(view, text);
  } catch (error) {
    // It ends too early.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const READERS: Record<string, (view: DataView, text: string) => Size | undefined> = {
  png: (view, text) =>
    text.startsWith('\x89PNG\r\n\x1a\n\0\0\0\rIHDR') ? [view.getUint32(16), view.getUint32(20)] : undefined,
  jpeg: jpegSize,
  gif: gifSize,
  webp: webpSize,
};

/** Markers are followed to the end, because a second size could be the one that is drawn. */
function jpegSize(view: DataView): Size | undefined {
  if (view.getUint16(0) !== 0xffd8) return undefined;
  let size: Size | undefined;
  for (let at = 2; at + 1 < view.byteLength; ) {
    const marker = view.getUint8(at + 1);
    const isMarker = view.getUint8(at) === 0xff && marker > 0x01 && marker < 0xff;
    // Within the data of the picture, or a marker without content.
    if (!isMarker || (marker >= 0xd0 && marker <= 0xd8)) {
      at++;
      continue;
    }
    if (marker === 0xd9) break;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      if (size) return undefined;
      size = [view.getUint16(at + 7), view.getUint16(at + 5)];
    }
    if (at + 3 >= view.byteLength) break;
    at += 2 + view.getUint16(at + 2);
  }
  return size;
}

/** What holds both the screen and the first picture on it, which may be larger. */
function gifSize(view: DataView, text: string): Size | undefined {
  if (!/^GIF8[79]a/.test(text)) return undefined;
  const colors = (packed: number) => (packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0);
  let at = 13 + colors(view.getUint8(10));
  while (view.getUint8(at) === 0x21) {
    at += 2;
    for (let length = view.getUint8(at); length > 0; length = view.getUint8(at)) at += 1 + length;
    at++;
  }
  if (view.getUint8(at) !== 0x2c) return undefined;
  const end = (offset: number) => view.getUint16(at + offset, true) + view.getUint16(at + offset + 4, true);
  return [Math.max(view.getUint16(6, true), end(1)), Math.max(view.getUint16(8, true), end(3))];
}

function webpSize(view: DataView, text: string): Size | undefined {
  if (!text.startsWith('RIFF') || text.slice(8, 12) !== 'WEBP') return undefined;
  const triple = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 2 ** 16 + 1;
  switch (text.slice(12, 16)) {
    case 'VP8 ':
      return text.slice(23, 26) === '\x9d\x01\x2a'
        ? [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff]
        : undefined;
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return view.getUint8(20) === 0x2f ? [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1] : undefined;
    }
    case 'VP8X':
      return [triple(24), triple(27)];
    default:
      return undefined;
  }
}
