/** The language of a page: its texts, and how it writes numbers and times. */
import { createFormats, type Formats } from './format.ts';
import { isRightToLeft, type Say, sayWith, type Texts } from './texts/index.ts';

/** `T` has the texts of widgets, and those of the page around them. */
export class Language<T extends Texts = Texts> {
  locale = 'en';
  say: Say<keyof T>;
  formats: Formats;
  readonly #load: (locale: string) => Promise<T>;
  #wanted = this.locale;

  constructor(english: T, load: (locale: string) => Promise<T>) {
    this.say = sayWith(english);
    this.formats = createFormats(this.locale);
    this.#load = load;
  }

  get isRightToLeft(): boolean {
    return isRightToLeft(this.locale);
  }

  /** Of several that are asked for at a time, the last one is used. If its texts cannot be had, the language stays. */
  async use(locale: string): Promise<boolean> {
    this.#wanted = locale;
    const texts = locale === this.locale ? undefined : await this.#load(locale).catch(() => undefined);
    if (!texts || locale !== this.#wanted) return false;
    this.locale = locale;
    this.say = sayWith(texts);
    this.formats = createFormats(locale, this.say);
    return true;
  }
}
