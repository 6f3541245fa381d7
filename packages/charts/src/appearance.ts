/** The colours in force, and who may choose them. */
import { applyTokens } from './apply-tokens.ts';
import { type Scheme, type ThemeOptions, type Tokens, tokensOf } from './theme.ts';

export type ChosenScheme = Scheme | 'auto';

export const isScheme = (text: unknown): text is ChosenScheme =>
  text === 'light' || text === 'dark' || text === 'auto';

/** The document has these colours: the light or the dark ones, as chosen or as the device says. */
export class Appearance {
  scheme: ChosenScheme;
  tokens!: Tokens;
  readonly #overrides: (scheme: Scheme) => readonly ThemeOptions[];
  readonly #onPaint: () => void;

  /** The last override wins. */
  constructor(
    scheme: ChosenScheme,
    overrides: (scheme: Scheme) => readonly ThemeOptions[],
    onPaint: () => void,
  ) {
    this.scheme = scheme;
    this.#overrides = overrides;
    this.#onPaint = onPaint;
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', () => this.paint());
    this.paint();
  }

  paint() {
    const isDark =
      this.scheme === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : this.scheme === 'dark';
    const scheme = isDark ? 'dark' : 'light';
    this.tokens = tokensOf(scheme, this.#overrides(scheme));
    applyTokens(this.tokens);
    this.#onPaint();
  }
}
