/**
 * The words of the app. Each page has texts of its own (`defineTexts`), so that home does not load those of the editor.
 * English is the type of all languages: a text that is missing in one of them does not compile.
 */
import { computed, signal } from '@preact/signals';
import { isRightToLeft, knownLocale, sayWith } from '../design.ts';

export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  ja: '日本語',
} as const;
export type Language = keyof typeof LANGUAGES;
type OtherLanguage = Exclude<Language, 'en'>;

export type Texts<English extends Record<string, string>> = { readonly [Key in keyof English]: string };
export type Values = Record<string, string | number>;

export interface Say<Key> {
  /** `{count}` in a text is a value, and `{count:item|items}` a word that goes with it. */
  (key: Key, values?: Values): string;
  /** Resolves when the texts are there in the language of the app. */
  ready(): Promise<void>;
}

/** The locale of the app: how it writes numbers and times, also where it has no texts in that language. */
export const locale = signal('en');

const languageOf = (tag: string): Language => {
  const language = tag.split('-')[0]!;
  return Object.hasOwn(LANGUAGES, language) ? (language as Language) : 'en';
};

export const language = computed(() => languageOf(locale.value));

const all: { load(language: Language): Promise<void> }[] = [];

export function defineTexts<English extends Record<string, string>>(
  english: English,
  others: Record<OtherLanguage, () => Promise<{ texts: Texts<English> }>>,
): Say<keyof English> {
  const loaded = signal<Partial<Record<Language, Texts<English>>>>({ en: english });
  const say = computed(() => sayWith(loaded.value[language.value] ?? english));
  const load = async (wanted: Language) => {
    if (wanted === 'en' || loaded.peek()[wanted]) return;
    const { texts } = await others[wanted]();
    loaded.value = { ...loaded.peek(), [wanted]: texts };
  };
  all.push({ load });
  return Object.assign((key: keyof English, values: Values = {}) => say.value(key, values), {
    ready: () => load(language.peek()).catch(() => {}),
  });
}

/** Chooses the first of these that is a locale. The texts are loaded first, so that no page shows two languages. */
export async function useLocale(...preferred: unknown[]) {
  const tag = preferred.map(knownLocale).find((known) => known !== undefined) ?? 'en';
  await Promise.all(all.map(({ load }) => load(languageOf(tag)).catch(() => {})));
  locale.value = tag;
  document.documentElement.lang = tag;
  document.documentElement.dir = isRightToLeft(tag) ? 'rtl' : 'ltr';
}
