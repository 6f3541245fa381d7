/** Makes HTML. Every value is escaped, except markup that this function made. */

export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | null | undefined | false | readonly Value[];

/** Nothing is shown for `null`, `undefined` and `false`. Quotes around the value of an attribute are required. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Markup {
  return new Markup(
    parts.reduce((before, part, i) => {
      if (before.endsWith('=')) throw new Error(`an attribute without quotes: ${before.slice(-40)}`);
      return before + markupOf(values[i - 1]) + part;
    }),
  );
}

function markupOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.text;
  return typeof value === 'object' ? value.map(markupOf).join('') : escaped(String(value));
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter]!);
