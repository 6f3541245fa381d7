/** The texts of the page. Only English is part of it; another language is loaded if it is asked for. */
import { Language, textsLoader } from '@oriel/charts';
import { en, type Texts } from './en.ts';

const load = textsLoader(en, {
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
});

export type PageLanguage = Language<Texts>;
export const createLanguage = (): PageLanguage => new Language(en, load);
