/** The words of the frame and of what all pages share. */
import { en } from './en.ts';
import { defineTexts } from './index.ts';

export const say = defineTexts(en, {
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
});
