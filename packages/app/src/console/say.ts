import { defineTexts, type Say } from '../texts/index.ts';
import { en } from './texts/en.ts';

export const say = defineTexts(en, {
  de: () => import('./texts/de.ts'),
  es: () => import('./texts/es.ts'),
  fr: () => import('./texts/fr.ts'),
  ja: () => import('./texts/ja.ts'),
});

/** The texts of a page of the console: its own, and those that all of them share. */
export const withShared = (...own: Pick<Say<never>, 'ready'>[]) => ({
  ready: async () => {
    await Promise.all([say, ...own].map((one) => one.ready()));
  },
});
