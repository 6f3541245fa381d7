import { expect, test } from 'vitest';
import { isPicture, pictureOf, pixelsOf } from './picture.ts';

const base64 = (format: string, bytes: (number | string | number[])[]) =>
  `data:image/${format};base64,${btoa(bytes.map((part) => (typeof part === 'string' ? part : String.fromCharCode(...[part].flat()))).join(''))}`;
const big = (n: number) => [n >> 8, n & 255];
const small = (n: number) => [n & 255, n >> 8];
const zeros = (n: number): number[] => Array(n).fill(0);

type ImageMaker = (width: number, height: number) => string;
const sof: (width: number, height: number) => number[] = (w, h) => [
  ...[0xff, 0xc2, 0, 11, 8, ...big(h), ...big(w), 1, 1, 0x11, 0],
];
const png: ImageMaker = (w, h) =>
  base64('png', ['\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 0, 0, big(w), 0, 0, big(h), 8, 6]);
const jpeg: ImageMaker = (w, h) =>
  // A comment that holds another size comes first.
  base64('jpeg', [
    0xff,
    0xd8,
    0xff,
    0xfe,
    0,
    15,
    sof(1, 1),
    sof(w, h),
    0xff,
    0xda,
    0,
    2,
    7,
    0xff,
    0,
    0xff,
    0xd9,
  ]);
const gif: ImageMaker = (w, h) =>
  base64('gif', [
    'GIF89a',
    small(w),
    small(h),
    0x80,
    0,
    0,
    zeros(6),
    0x21,
    0xf9,
    4,
    zeros(5),
    0x2c,
    zeros(4),
    small(w),
    small(h),
    0,
  ]);
const gifFrame: ImageMaker = (w, h) =>
  base64('gif', ['GIF87a', small(1), small(1), 0, 0, 0, 0x2c, zeros(4), small(w), small(h), 0]);
const webp =
  (kind: string, size: (w: number, h: number) => (number | string | number[])[]): ImageMaker =>
  (w, h) =>
    base64('webp', ['RIFF', zeros(4), 'WEBP', kind, zeros(4), ...size(w, h), zeros(8)]);

const FORMATS: [string, ImageMaker][] = [
  ['PNG', png],
  ['JPEG', jpeg],
  ['GIF', gif],
  ['GIF with a picture larger than its screen', gifFrame],
  ['WebP', webp('VP8 ', (w, h) => [zeros(3), '\x9d\x01\x2a', small(w), small(h)])],
  [
    'WebP without loss',
    webp('VP8L', (w, h) => {
      const bits = (w - 1) | ((h - 1) << 14);
      return [0x2f, [bits & 255, (bits >> 8) & 255, (bits >> 16) & 255, bits >>> 24]];
    }),
  ],
  ['WebP with parts', webp('VP8X', (w, h) => [zeros(4), small(w - 1), 0, small(h - 1), 0])],
];

test.each(FORMATS)('a %s of few bytes is refused if it has too many pixels', (_, made) => {
  expect(pixelsOf(made(640, 480))).toBe(640 * 480);
  expect([isPicture(made(2000, 2000)), isPicture(made(8000, 8000))]).toEqual([true, false]);
  expect(pictureOf({ image: made(8000, 8000), alt: 'Our logo' })).toBeUndefined();
});

test('what cannot be read is refused', () => {
  const twoSizes = base64('jpeg', [0xff, 0xd8, sof(9, 9), sof(8000, 8000)]);
  const other = png(9, 9).replace('png', 'jpeg');
  expect(isPicture(png(0, 9))).toBe(false);
  for (const text of [twoSizes, other, 'data:image/png;base64,iVBORw0KGgo=', 'data:image/png;base64,A', 7])
    expect(isPicture(text)).toBe(false);
  for (const [, made] of FORMATS) expect(isPicture(made(9, 9).slice(0, 40))).toBe(false);
});
