/** What a page puts into its address. What is too long for it is kept by the tab, so that a reload brings it back. */
import { keepInTab, keptInTab } from '../preferences.ts';
import { ADDRESS_MAX, toText } from './address.ts';
import type { Question } from './question.ts';

const KEPT = 'kept';

/** `place` is the path of the page. Undefined if it is too long, and nothing may be kept, as in a frame. */
export function addressed(place: string, text: string): string | undefined {
  if (text.length <= ADDRESS_MAX) return text;
  return keepInTab(place, text) ? KEPT : undefined;
}

export const addressedQuestion = (place: string, question: Question) => addressed(place, toText(question));

export const readAddressed = (place: string, text: string): string | undefined =>
  text === KEPT ? keptInTab(place) : text;
