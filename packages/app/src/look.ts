/** The colours of the app: light or dark, as the person or the host chose, or as the device says. */
import { computed, effect, signal } from '@preact/signals';
import { applyTokens, type Scheme, type ThemeOptions, tokensOf } from './design.ts';

export const scheme = signal<Scheme | 'auto'>('auto');
/** Later overrides win: those of the account, then those of the host. */
export const themeOverrides = signal<(scheme: Scheme) => readonly ThemeOptions[]>(() => []);

const dark = matchMedia('(prefers-color-scheme: dark)');
const isDark = signal(dark.matches);

export const chosenScheme = computed(() =>
  scheme.value === 'auto' ? (isDark.value ? 'dark' : 'light') : scheme.value,
);

/** The colours in force. */
export const tokens = computed(() => tokensOf(chosenScheme.value, themeOverrides.value(chosenScheme.value)));

export function startLook() {
  dark.addEventListener('change', () => {
    isDark.value = dark.matches;
  });
  effect(() => applyTokens(tokens.value));
}
