import { mix } from './color.ts';
import type { Tokens } from './theme.ts';

/** Through the CSSOM, because the policy of the page allows no style in the markup. For the document, or for a part of it. */
export function applyTokens(tokens: Tokens, element: HTMLElement = document.documentElement) {
  const { style } = element;
  element.dataset.scheme = tokens.scheme;
  style.colorScheme = tokens.scheme;
  const values: Record<string, string> = {
    background: tokens.background,
    surface: tokens.surface,
    ink: tokens.ink,
    'ink-soft': tokens.inkSoft,
    line: tokens.line,
    accent: tokens.accent,
    'accent-ink': tokens.accentInk,
    'accent-soft': mix(tokens.surface, tokens.accent, tokens.scheme === 'light' ? 0.1 : 0.18),
    bar: mix(tokens.surface, tokens.series[0]!, tokens.scheme === 'light' ? 0.2 : 0.35),
    hover: mix(tokens.surface, tokens.ink, 0.05),
    land: tokens.land,
    good: tokens.good,
    bad: tokens.bad,
    font: tokens.font,
    radius: `${tokens.radius}px`,
    border: tokens.border,
    'border-width': `${tokens.borderWidth}px`,
    control: tokens.control,
  };
  for (const [name, value] of Object.entries(values)) style.setProperty(`--${name}`, value);
}
