import { defineTexts } from '../texts/index.ts';
import { en } from './texts/en.ts';

export const say = defineTexts(en, {
  de: () => import('./texts/de.ts'),
  es: () => import('./texts/es.ts'),
  fr: () => import('./texts/fr.ts'),
  ja: () => import('./texts/ja.ts'),
});
