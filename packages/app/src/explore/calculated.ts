/** Calculated fields of a question, in the form in which queries have them. The server computes and checks them. */

export const KINDS = [
  'shareOfTotal',
  'difference',
  'percentDifference',
  'runningTotal',
  'movingAverage',
  'rank',
  'aggregate',
  'expression',
] as const;
export type Kind = (typeof KINDS)[number];

export const AGGREGATES = ['countDistinct', 'sum', 'avg', 'min', 'max'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

export const FORMATS = ['number', 'percent', 'currency'] as const;

export interface Calculated {
  /** The key of its column. */
  name: string;
  title?: string;
  format?: (typeof FORMATS)[number];
  kind: Kind;
  of?: string;
  function?: Aggregate;
  along?: string;
  within?: string[];
  rows?: number;
  direction?: 'asc' | 'desc';
  expression?: string;
}

/** The kinds that depend on which row is before another. */
export const isByOrder = (kind: Kind) =>
  ['difference', 'percentDifference', 'runningTotal', 'movingAverage'].includes(kind);

/** Which aggregates a dimension of a type has. */
export const aggregatesOf = (type: string): Aggregate[] =>
  AGGREGATES.filter(
    (name) =>
      name === 'countDistinct' ||
      type === 'number' ||
      (type === 'time' && (name === 'min' || name === 'max')),
  );

const isText = (value: unknown): value is string => typeof value === 'string';

/** Nothing of it is trusted. What is not known is left out, and what is wrong with the rest the server says. */
export function fromCalculated(given: unknown): Calculated[] {
  return (Array.isArray(given) ? given : []).slice(0, 50).flatMap((item): Calculated[] => {
    const field = (item ?? {}) as Record<string, unknown>;
    const kind = KINDS.find((one) => one === field.kind);
    if (!kind || !isText(field.name) || !/^[A-Za-z_]\w{0,62}$/.test(field.name)) return [];
    const { title, of, along, within, rows, expression } = field;
    const format = FORMATS.find((one) => one === field.format);
    const aggregate = AGGREGATES.find((one) => one === field.function);
    return [
      {
        name: field.name,
        kind,
        ...(isText(title) ? { title } : {}),
        ...(format ? { format } : {}),
        ...(isText(of) ? { of } : {}),
        ...(aggregate ? { function: aggregate } : {}),
        ...(isText(along) ? { along } : {}),
        ...(Array.isArray(within) ? { within: within.filter(isText) } : {}),
        ...(typeof rows === 'number' ? { rows } : {}),
        ...(field.direction === 'asc' ? { direction: 'asc' } : {}),
        ...(isText(expression) ? { expression } : {}),
      },
    ];
  });
}

/** A name that no other field has, made of the words. */
export function nameFor(words: string, fields: readonly Calculated[]): string {
  const plain = words
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 50);
  const base = /^[a-z]/.test(plain) ? plain : `field_${plain}`.replace(/_$/, '');
  let name = base;
  for (let i = 2; fields.some((field) => field.name.toLowerCase() === name); i++) name = `${base}_${i}`;
  return name;
}

/** Members and fields that it is computed from. */
export const namesIn = ({ of, expression }: Calculated): string[] =>
  expression === undefined
    ? of === undefined
      ? []
      : [of]
    : (expression.replaceAll(/'(?:[^']|'')*'/g, '').match(/[A-Za-z_][\w.]*/g) ?? []);

/** Without columns that the question does not have any more. */
export function withoutKeys(field: Calculated, keys: ReadonlySet<string>): Calculated {
  const { along, within, ...rest } = field;
  const kept = within?.filter((key) => keys.has(key));
  return {
    ...rest,
    ...(along !== undefined && keys.has(along) ? { along } : {}),
    ...(kept?.length || within?.length === 0 ? { within: kept ?? [] } : {}),
  };
}

/** With another key in the place of one: that of a time whose granularity was changed. */
export function withKey(field: Calculated, before: string, after: string): Calculated {
  const { along, within, expression } = field;
  const word = new RegExp(`\\b${before.replaceAll('.', '\\.')}\\b`, 'g');
  return {
    ...field,
    ...(along === undefined ? {} : { along: along === before ? after : along }),
    ...(within ? { within: within.map((key) => (key === before ? after : key)) } : {}),
    ...(expression === undefined ? {} : { expression: expression.replaceAll(word, after) }),
  };
}

/** The place of an error in an expression, as the server says it. */
export function errorIn(message: string, index: number): { message: string; from?: number; to?: number } {
  const place = `calculated\\[${index}\\]\\.\\w+`;
  const found = new RegExp(`${place}(?:\\[(\\d+)\\.\\.(\\d+)\\])?: ([^]*)`).exec(message);
  if (!found) return { message };
  const [, from, to, text] = found;
  return { message: text!, ...(from ? { from: Number(from), to: Number(to) } : {}) };
}
