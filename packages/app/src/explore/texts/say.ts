/** The words of the explore page. */
import { defineTexts } from '../../texts/index.ts';
import { texts } from './en.ts';

export type TextKey = keyof typeof texts;

export const say = defineTexts(texts, {
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
});
