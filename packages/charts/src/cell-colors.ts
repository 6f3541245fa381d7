/** Colours of the cells of a table, by their values. All of them are of the theme. */
import type { Row } from './types.ts';

export const OPERATORS = ['gt', 'gte', 'lt', 'lte', 'equals'] as const;
export const COLORS = ['good', 'bad', 'accent'] as const;

export interface CellRule {
  operator: (typeof OPERATORS)[number];
  value: number | string;
  color: (typeof COLORS)[number];
}

export interface CellColors {
  kind: 'scale' | 'signs' | undefined;
  rules: CellRule[];
}

/** What is unknown is left out. */
export function cellColorsOf(colors: unknown, rules: unknown): CellColors {
  const known = (Array.isArray(rules) ? rules : []).filter(
    (rule): rule is CellRule =>
      OPERATORS.includes(rule?.operator) &&
      COLORS.includes(rule?.color) &&
      (typeof rule.value === 'number' || typeof rule.value === 'string'),
  );
  return { kind: colors === 'scale' || colors === 'signs' ? colors : undefined, rules: known };
}

/** The strongest colour, in percent, on which text stays readable in light and dark. */
const STRONGEST = 32;
const RULED = 22;

/** As an image, over whatever background the cell has. */
function mixed(color: string, percent: number): string {
  const made = `color-mix(in srgb, var(--${color}) ${Math.round(percent)}%, transparent)`;
  return `linear-gradient(${made}, ${made})`;
}

const isNumber = (value: unknown) => value !== null && value !== '' && Number.isFinite(Number(value));

function holds({ operator, value: wanted }: CellRule, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  const areNumbers = isNumber(value) && isNumber(wanted);
  const [a, b] = areNumbers ? [Number(value), Number(wanted)] : [String(value), String(wanted)];
  if (operator === 'equals') return a === b;
  if (!areNumbers) return false;
  return operator === 'gt' ? a > b : operator === 'gte' ? a >= b : operator === 'lt' ? a < b : a <= b;
}

/** The background image of each cell of a column; undefined for none. */
export function cellColors(
  rows: readonly Row[],
  { member, colors: { kind, rules } }: { member: string; colors: CellColors },
): ((value: unknown) => string | undefined) | undefined {
  if (!kind && !rules.length) return undefined;
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  if (kind === 'scale')
    for (const row of rows) {
      const value = row[member];
      if (!isNumber(value)) continue;
      least = Math.min(least, Number(value));
      most = Math.max(most, Number(value));
    }
  return (value) => {
    const rule = rules.find((one) => holds(one, value));
    if (rule) return mixed(rule.color, RULED);
    if (!kind || !isNumber(value)) return undefined;
    const number = Number(value);
    if (kind === 'signs') return number === 0 ? undefined : mixed(number < 0 ? 'bad' : 'good', RULED);
    return mixed('accent', most > least ? (STRONGEST * (number - least)) / (most - least) : 0);
  };
}
