/** A range of time: words that stay relative, or two days. */
import { RANGES } from './operators.ts';
import {
  type Edge,
  type FreeRange,
  type RangeUnit,
  readRange,
  UNITS,
  unitText,
  writeRange,
} from './ranges.ts';
import { say } from './texts/say.ts';

const CUSTOM = 'custom';
/** What each kind begins with. */
const FREE: Record<FreeRange['kind'], FreeRange> = {
  last: { kind: 'last', count: 14, unit: 'day' },
  next: { kind: 'next', count: 14, unit: 'day' },
  fromTo: { kind: 'fromTo', from: { count: -14, unit: 'day' }, to: { count: -7, unit: 'day' } },
};
const KINDS = [
  ['last', 'theLast'],
  ['next', 'theNext'],
  ['fromTo', 'fromTo'],
] as const;

export function Range({ values, onChange }: { values: string[]; onChange(values: string[]): void }) {
  const [first = '', second] = values;
  const isKnown = RANGES.some(([words]) => words === first);
  const isDays = values.length > 1 || /^\d{4}-/.test(first);
  const free = isKnown || isDays ? undefined : readRange(first);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <>
      <label class="field">
        <span>{say('relative')}</span>
        <select
          value={isDays ? CUSTOM : (free?.kind ?? first)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const begun = FREE[value as FreeRange['kind']];
            if (value === CUSTOM) onChange([`${today.slice(0, 7)}-01`, today]);
            else onChange([begun ? writeRange(begun) : value]);
          }}
        >
          {!isKnown && !isDays && !free && <option value={first}>{first}</option>}
          {RANGES.map(([words, text]) => (
            <option key={words} value={words}>
              {say(text)}
            </option>
          ))}
          {KINDS.map(([kind, text]) => (
            <option key={kind} value={kind}>
              {say(text)}
            </option>
          ))}
          <option value={CUSTOM}>{say('customRange')}</option>
        </select>
      </label>
      {free && <Free range={free} onChange={(range) => onChange([writeRange(range)])} />}
      {isDays && (
        <div class="two">
          <label class="field">
            <span>{say('from')}</span>
            <input
              type="date"
              value={first.slice(0, 10)}
              onChange={(event) => onChange([event.currentTarget.value, second ?? first])}
            />
          </label>
          <label class="field">
            <span>{say('to')}</span>
            <input
              type="date"
              value={(second ?? first).slice(0, 10)}
              onChange={(event) => onChange([first, event.currentTarget.value])}
            />
          </label>
        </div>
      )}
    </>
  );
}

function Free({ range, onChange }: { range: FreeRange; onChange(range: FreeRange): void }) {
  if (range.kind !== 'fromTo')
    return <Counted {...range} least={1} onChange={(part) => onChange({ ...range, ...part })} />;
  return (
    <>
      <EdgeInput label={say('from')} edge={range.from} onChange={(from) => onChange({ ...range, from })} />
      <EdgeInput label={say('to')} edge={range.to} onChange={(to) => onChange({ ...range, to })} />
    </>
  );
}

function EdgeInput({ label, edge, onChange }: { label: string; edge: Edge; onChange(edge: Edge): void }) {
  const isAfter = edge.count > 0;
  const count = Math.abs(edge.count);
  return (
    <fieldset class="edge">
      <legend>{label}</legend>
      <Counted
        count={count}
        unit={edge.unit}
        least={0}
        onChange={(part) => {
          const next = { count, unit: edge.unit, ...part };
          onChange({ unit: next.unit, count: isAfter ? next.count : -next.count });
        }}
      />
      <label class="field">
        <span class="hidden">{label}</span>
        <select
          aria-label={label}
          value={isAfter ? 'after' : 'before'}
          onChange={(event) =>
            onChange({ ...edge, count: event.currentTarget.value === 'after' ? count || 1 : -count })
          }
        >
          <option value="before">{say('beforeNow')}</option>
          <option value="after">{say('afterNow')}</option>
        </select>
      </label>
    </fieldset>
  );
}

function Counted({
  count,
  unit,
  least,
  onChange,
}: Edge & { least: number; onChange(part: Partial<Edge>): void }) {
  return (
    <div class="two">
      <label class="field">
        <span>{say('howMany')}</span>
        <input
          type="number"
          min={least}
          max={9999}
          value={count}
          onInput={({ currentTarget: { value: typed } }) => typed && onChange({ count: Number(typed) })}
        />
      </label>
      <label class="field">
        <span>{say('unit')}</span>
        <select value={unit} onChange={(event) => onChange({ unit: event.currentTarget.value as RangeUnit })}>
          {UNITS.map((each) => (
            <option key={each} value={each}>
              {unitText(each, count)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
