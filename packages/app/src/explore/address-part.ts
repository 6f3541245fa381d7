/** What a page puts into its address. What is too long for it is kept by the tab, so that a reload brings it back. */
import { keepInTab, keptInTab } from '../preferences.ts';
import { ADDRESS_MAX, toText } from './address.ts';
import type { Question } from './question.ts';

const KEPT = 'kept';

/** `place` is the path of the page. Undefined if it is too long, and nothing may be kept, as in a frame. */
export function addressPart(place: string, text: string): string | undefined {
  if (text.length <= ADDRESS_MAX) return text;
  return keepInTab(place, text) ? KEPT : undefined;
}

export const addressedQuestion = (place: string, question: Question) => addressPart(place, toText(question));

/** Remembers that a spec was written in this tab, or drawn by a click, so that it needs no click after a reload. */
export const trust = (place: string, spec: object) => keepInTab(`drawn ${place}`, JSON.stringify(spec));
export const isTrusted = (place: string, spec: object) =>
  keptInTab(`drawn ${place}`) === JSON.stringify(spec);

export const readAddressed = (place: string, text: string): string | undefined =>
  text === KEPT ? keptInTab(place) : text;
