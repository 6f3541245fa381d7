/** Texts in a language: which locales there are, and texts with values in them. */
import type { TextKey, Texts } from './en.ts';

export type { TextKey, Texts } from './en.ts';
export type Say<K = TextKey> = (key: K, values?: Record<string, string | number>) => string;

/** The locale in its usual spelling, or undefined if it is none. */
export function knownLocale(text: unknown): string | undefined {
  try {
    return typeof text === 'string' && text ? Intl.getCanonicalLocales(text)[0] : undefined;
  } catch {
    return undefined;
  }
}

/** Scripts that are written from the right. Not every browser tells the direction of a locale. */
const FROM_THE_RIGHT = new Set(['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']);

export const isRightToLeft = (locale: string): boolean =>
  FROM_THE_RIGHT.has(new Intl.Locale(locale).maximize().script ?? '');

/** Loads the texts of a locale, of which only English is there from the start. */
export function textsLoader<T extends Texts>(
  english: T,
  others: Readonly<Record<string, () => Promise<{ texts: T }>>>,
): (locale: string) => Promise<T> {
  return async (locale) => {
    const load = others[locale.split('-')[0]!];
    return load ? (await load()).texts : english;
  };
}

/** `{count}` is a value, and `{count:row|rows}` a word that goes with it. */
export const sayWith =
  <T extends object>(texts: T): Say<keyof T> =>
  (key, values = {}) =>
    String(texts[key]).replaceAll(
      /\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g,
      (_all, name: string, one?: string, more?: string) => {
        const value = String(values[name] ?? '');
        return one === undefined ? value : value === '1' ? one : more!;
      },
    );
