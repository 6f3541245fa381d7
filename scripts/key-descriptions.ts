/** What each key and word of the modelling language does, from docs/modelling-features.md, for the schema that editors use. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

export function keyDescriptions(): string {
  const found: Record<string, Record<string, { text: string; words?: Record<string, string> }>> = {};
  for (const line of readFileSync(join(root, 'docs/modelling-features.md'), 'utf8').split('\n')) {
    if (!/^\| [^-W]/.test(line)) continue;
    const [what, key, value, does] = line
      .split(/(?<!\\)\|/)
      .slice(1, 5)
      .map((cell) => cell.trim().replaceAll('\\|', '|')) as [string, string, string, string];
    const name = key.replaceAll('`', '');
    const keys = found[what] ?? {};
    const said = keys[name] ?? { text: does };
    found[what] = { ...keys, [name]: said };
    if (value) said.words = { ...said.words, [value.replaceAll('`', '')]: does };
  }
  return [
    '// Made by `npm run generate` from docs/modelling-features.md.',
    'export const DESCRIPTIONS: Readonly<',
    '  Record<string, Readonly<Record<string, { readonly text: string; readonly words?: Readonly<Record<string, string>> }>>>',
    `> = ${JSON.stringify(found, null, 2)};`,
    '',
  ].join('\n');
}
