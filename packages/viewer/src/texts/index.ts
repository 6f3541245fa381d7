/** The words of the page. Only English is part of the page; another language is loaded if it is asked for. */
import { en, type TextKey, type Texts } from './en.ts';

export type { TextKey, Texts } from './en.ts';
export type Say = (key: TextKey, values?: Record<string, string | number>) => string;

const OTHERS: Record<string, () => Promise<{ texts: Texts }>> = {
  de: () => import('./de.ts'),
  es: () => import('./es.ts'),
  fr: () => import('./fr.ts'),
  ja: () => import('./ja.ts'),
};

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

export async function textsOf(locale: string): Promise<Texts> {
  const load = OTHERS[locale.split('-')[0]!];
  return load ? (await load()).texts : en;
}

/** `{count}` is a value, and `{count:row|rows}` a word that goes with it. */
export const sayWith =
  (texts: Texts): Say =>
  (key, values = {}) =>
    texts[key].replaceAll(
      /\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g,
      (_all, name: string, one?: string, more?: string) => {
        const value = String(values[name] ?? '');
        return one === undefined ? value : value === '1' ? one : more!;
      },
    );
