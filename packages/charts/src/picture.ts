/** Pictures in texts of a dashboard. They are part of it: a page loads nothing from elsewhere. */
import type { Widget } from './types.ts';

/** Of the text that holds it, about three quarters of this in bytes. */
export const PICTURE_MAX = 300_000;

const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

export const isPicture = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= PICTURE_MAX && PICTURE.test(text);

/** The picture of a text widget that has one in place of words. */
export function pictureOf(config: Widget['config']): { source: string; alt: string } | undefined {
  const source: unknown = config?.image;
  return isPicture(source) ? { source, alt: String(config?.alt ?? '') } : undefined;
}
