/** The comparisons of each type, and how filters are said. */

import type { Member, Model } from './members.ts';
import { type FilterNode, isComplete, isGroup } from './question.ts';
import { freeRangeText, readRange } from './ranges.ts';
import { say, type TextKey } from './texts/say.ts';

export type ValueForm = 'none' | 'many' | 'one' | 'number' | 'range' | 'date' | 'boolean';

export interface Operator {
  name: string;
  text: TextKey;
  form: ValueForm;
}

const SET: Operator[] = [
  { name: 'set', text: 'opSet', form: 'none' },
  { name: 'notSet', text: 'opNotSet', form: 'none' },
];
const TEXTS: Operator[] = [
  { name: 'equals', text: 'opEquals', form: 'many' },
  { name: 'notEquals', text: 'opNotEquals', form: 'many' },
  { name: 'contains', text: 'opContains', form: 'one' },
  { name: 'notContains', text: 'opNotContains', form: 'one' },
  { name: 'startsWith', text: 'opStartsWith', form: 'one' },
  { name: 'endsWith', text: 'opEndsWith', form: 'one' },
  ...SET,
];
const NUMBERS: Operator[] = [
  { name: 'gte', text: 'opGte', form: 'number' },
  { name: 'lte', text: 'opLte', form: 'number' },
  { name: 'gt', text: 'opGt', form: 'number' },
  { name: 'lt', text: 'opLt', form: 'number' },
  { name: 'equals', text: 'opEquals', form: 'number' },
  { name: 'notEquals', text: 'opNotEquals', form: 'number' },
  ...SET,
];
const TIMES: Operator[] = [
  { name: 'inDateRange', text: 'opInDateRange', form: 'range' },
  { name: 'notInDateRange', text: 'opNotInDateRange', form: 'range' },
  { name: 'beforeDate', text: 'opBeforeDate', form: 'date' },
  { name: 'beforeOrOnDate', text: 'opBeforeOrOnDate', form: 'date' },
  { name: 'afterDate', text: 'opAfterDate', form: 'date' },
  { name: 'afterOrOnDate', text: 'opAfterOrOnDate', form: 'date' },
  ...SET,
];
const BOOLEANS: Operator[] = [{ name: 'equals', text: 'opEquals', form: 'boolean' }, ...SET];

export function operatorsOf(member: Pick<Member, 'kind' | 'type'> | undefined): Operator[] {
  if (member?.kind === 'measure' || member?.type === 'number') return NUMBERS;
  if (member?.type === 'time') return TIMES;
  return member?.type === 'boolean' ? BOOLEANS : TEXTS;
}

/** What a new filter begins with. */
export const firstOf = (member: Member): { operator: string; values: string[] } => {
  const [first] = operatorsOf(member);
  return { operator: first!.name, values: member.type === 'time' ? ['last 30 days'] : [] };
};

/** Ranges that stay relative: the server reads the words each time. */
export const RANGES: [words: string, text: TextKey][] = [
  ['today', 'today'],
  ['yesterday', 'yesterday'],
  ['this week', 'thisWeek'],
  ['last week', 'lastWeek'],
  ['last 7 days', 'last7Days'],
  ['last 30 days', 'last30Days'],
  ['last 90 days', 'last90Days'],
  ['this month', 'thisMonth'],
  ['last month', 'lastMonth'],
  ['this quarter', 'thisQuarter'],
  ['last quarter', 'lastQuarter'],
  ['last 12 months', 'last12Months'],
  ['this year', 'thisYear'],
  ['last year', 'lastYear'],
];

const rangeText = (values: string[]) => {
  const [first = '', second] = values;
  const known = RANGES.find(([words]) => words === first.toLowerCase());
  if (second) return `${first} – ${second}`;
  if (known) return say(known[1]);
  const free = readRange(first.toLowerCase());
  return free ? freeRangeText(free) : first;
};

const SHOWN = 2;

/** A filter in the words of people. */
export function filterText(node: FilterNode, model: Model): string {
  if (isGroup(node)) {
    const join = ` ${say(node.join)} `;
    return node.filters
      .map((inner) => (isGroup(inner) ? `(${filterText(inner, model)})` : filterText(inner, model)))
      .join(join);
  }
  const member = model.members.get(node.member);
  const title = member?.title ?? node.member;
  const operator = operatorsOf(member).find(({ name }) => name === node.operator);
  const words = operator ? say(operator.text) : node.operator;
  if (operator?.form === 'none') return `${title} ${words}`;
  if (!isComplete(node)) return `${title} ${words} …`;
  if (operator?.form === 'range') return `${title} ${words} ${rangeText(node.values)}`;
  const values = node.values.map((value) =>
    operator?.form === 'boolean' ? say(value === 'true' ? 'yes' : 'no') : value,
  );
  const more = values.length > SHOWN ? `, ${say('more', { count: values.length - SHOWN })}` : '';
  return `${title} ${words} ${values.slice(0, SHOWN).join(', ')}${more}`;
}
