import type { Interval, Unit } from '../model.ts';
import { type Reader, withSchema } from '../read.ts';
import { readMoment } from '../times/moments.ts';
import { UTC } from '../times/zones.ts';
import { shorten } from '../yaml.ts';

export const UNITS: readonly Unit[] = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

const PART = /^([-+]?\d{1,5}) +(second|minute|hour|day|week|month|quarter|year)s?(?: +|$)/;

/** `1 week`, `-3 days`, `1 year 6 months`. */
export const interval = ({ canBeNegative }: { canBeNegative: boolean }): Reader<Interval> =>
  withSchema(
    (value, problems) => {
      const text = value.kind === 'text' ? value.text.trim() : '';
      const parts: { count: number; unit: Unit }[] = [];
      for (let rest = text; rest; ) {
        const match = PART.exec(rest);
        const count = Number(match?.[1]);
        if (!match || parts.length > UNITS.length || count === 0 || (count < 0 && !canBeNegative)) {
          const hint = 'Write a number and a unit, such as `3 days` or `1 year 6 months`.';
          problems.add(value, 'bad_value', `\`${shorten(text)}\` is not an interval.`, hint);
          return [];
        }
        parts.push({ count, unit: match[2] as Unit });
        rest = rest.slice(match[0].length);
      }
      if (!parts.length) problems.add(value, 'bad_value', 'This must be an interval, such as `3 days`.');
      return parts;
    },
    {
      type: 'string',
      pattern: `^\\s*(${canBeNegative ? '[-+]' : '[+]'}?\\d{1,5} +(${UNITS.join('|')})s?( +|$))+$`,
    },
  );

const length = interval({ canBeNegative: false });

/** An interval, or `unbounded`. */
export const windowEdge: Reader<Interval | 'unbounded'> = withSchema(
  (value, problems) =>
    value.kind === 'text' && value.text === 'unbounded' ? 'unbounded' : length(value, problems),
  { anyOf: [{ const: 'unbounded' }, length.schema!] },
);

/** A date, or a date and a time in UTC. */
export const moment: Reader<string> = withSchema(
  (value, problems) => {
    const text = value.kind === 'text' ? value.text : '';
    if (!readMoment(text, UTC)) {
      const hint = 'Write it as `2026-01-31` or `2026-01-31 09:30:00`.';
      problems.add(value, 'bad_value', `\`${shorten(text)}\` is not a date.`, hint);
    }
    return text;
  },
  { type: 'string' },
);
