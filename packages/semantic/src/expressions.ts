/** SQL with references in braces. A reference is a dotted path and nothing else. `\{` and `\}` are plain braces. */

import { TEXT_SCHEMA } from './language/schemas.ts';
import type { Problems, Spot } from './problems.ts';
import { type Reader, withSchema } from './read.ts';
import { problemIn } from './sql-texts.ts';
import { shorten, type TextValue } from './yaml.ts';

export interface RawReference {
  readonly path: readonly string[];
  readonly spot: Spot;
}
export interface RawExpression {
  readonly parts: readonly (string | RawReference)[];
  readonly spot: Spot;
}

const TEXT_MAX = 64 * 1024;
const SQL_SCHEMA = { ...TEXT_SCHEMA, maxLength: TEXT_MAX };
const PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const COLUMN = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names of the wider language that stand for code or for the viewer. */
const ELSEWHERE: Record<string, string> = {
  FILTER_PARAMS: 'The filters of a query are not available here.',
  FILTER_GROUP: 'The filters of a query are not available here.',
  SECURITY_CONTEXT: 'The viewer is not available here. Restrict rows with `access_policy`.',
  COMPILE_CONTEXT: 'A model does not depend on who compiles it. Restrict rows with `access_policy`.',
  userAttributes: 'The viewer is not available here. Restrict rows with `access_policy`.',
  securityContext: 'The viewer is not available here. Restrict rows with `access_policy`.',
};
export const NO_EXPRESSION = (spot: Spot): RawExpression => ({ parts: [''], spot });

export const expression: Reader<RawExpression> = withSchema((value, problems) => {
  if (value.kind !== 'text') {
    const hint =
      value.kind === 'map' ? 'A text that begins with a brace needs quotes: `"{CUBE}.amount"`.' : undefined;
    problems.add(value, 'bad_value', 'This must be SQL, as a text.', hint);
    return NO_EXPRESSION(value);
  }
  const { text } = value;
  if (text.trim() === '') problems.add(value, 'bad_value', 'This SQL is empty.');
  if (text.length > TEXT_MAX) {
    problems.add(value, 'too_large', `This SQL has more than ${TEXT_MAX} characters.`);
    return NO_EXPRESSION(value);
  }
  const parts = partsOf(value, problems);
  const problem = problemIn(parts);
  if (problem !== undefined) {
    const hint = 'Close every quote, comment and bracket, and keep references out of texts and comments.';
    problems.add(value, 'bad_value', problem, hint);
  }
  return { parts, spot: value };
}, SQL_SCHEMA);

/** A name alone is a column of the cube: `amount` means `{CUBE}.amount`. */
export const column: Reader<RawExpression> = withSchema((value, problems) => {
  if (value.kind !== 'text' || !COLUMN.test(value.text.trim())) return expression(value, problems);
  return { parts: [{ path: ['CUBE'], spot: value }, `.${value.text.trim()}`], spot: value };
}, SQL_SCHEMA);

const BRACE = /\\[{}]|[{}]/g;

function partsOf(value: TextValue, problems: Problems): (string | RawReference)[] {
  const { text } = value;
  const parts: (string | RawReference)[] = [];
  const spotOf = braceSpots(value);
  let plain = '';
  let from = 0;
  BRACE.lastIndex = 0;
  for (let match = BRACE.exec(text); match; match = BRACE.exec(text)) {
    const { index } = match;
    plain += text.slice(from, index);
    from = index + match[0].length;
    if (match[0].length === 2) {
      plain += match[0][1];
      continue;
    }
    const end = match[0] === '{' ? text.indexOf('}', index) : -1;
    if (end < 0) {
      problems.add(
        spotOf(index),
        'bad_reference',
        `There is a \`${match[0]}\` without its other brace.`,
        PLAIN_BRACE,
      );
      break;
    }
    if (plain.endsWith('$')) {
      problems.add(spotOf(index), 'bad_reference', 'A reference has no `$` before it.', 'Leave the `$` out.');
    }
    const path = pathOf(text.slice(index + 1, end).trim(), spotOf(index), problems);
    if (plain) parts.push(plain);
    plain = '';
    if (path) parts.push({ path, spot: spotOf(index) });
    from = end + 1;
    BRACE.lastIndex = from;
  }
  plain += text.slice(from);
  if (plain || parts.length === 0) parts.push(plain);
  return parts;
}

const PLAIN_BRACE = 'If you mean the character itself, write `\\{` or `\\}`.';

function pathOf(text: string, spot: Spot, problems: Problems): string[] | undefined {
  if (!PATH.test(text)) {
    const what = text.includes('(')
      ? 'it cannot call a function'
      : 'for example `{CUBE}`, `{status}` or `{orders.status}`';
    problems.add(
      spot,
      'bad_reference',
      `\`{${shorten(text)}}\` is not a reference: a reference is names with dots between them, ${what}.`,
      PLAIN_BRACE,
    );
    return undefined;
  }
  const path = text.split('.');
  if (Object.hasOwn(ELSEWHERE, path[0]!)) {
    problems.add(spot, 'bad_reference', `\`{${shorten(text)}}\` cannot be used here.`, ELSEWHERE[path[0]!]);
    return undefined;
  }
  return path;
}

/**
 * Returns the place of a brace in the file. Quotes, folds and indents are not in the text, but the braces are the same
 * in the text and in the file, one by one.
 */
function braceSpots({ source, offset, end, text }: TextValue): (index: number) => Spot {
  let inText = -1;
  let inFile = offset - 1;
  return (index) => {
    while (inText < index) {
      const next = nextBrace(text, inText + 1, index + 1);
      const place = nextBrace(source.text, inFile + 1, end);
      if (next < 0 || place < 0) break;
      [inText, inFile] = [next, place];
    }
    return { source, offset: inText === index ? inFile : offset };
  };
}

function nextBrace(text: string, from: number, to: number): number {
  for (let i = from; i < to; i++) if (text[i] === '{' || text[i] === '}') return i;
  return -1;
}
