/** Controls that narrow the dashboard down. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { listOf, rangeOf, titleOf } from '../in-force.ts';
import { operatorsOf, WITHOUT_VALUE } from '../operators.ts';
import { visibilityOf } from '../presets.ts';
import { valuesQuery } from '../query.ts';
import { useBoard } from '../shared.ts';
import type { TextKey } from '../texts/index.ts';
import type { Problem, Widget } from '../types.ts';
import { Failure, useClosing } from './chart.tsx';

const OPTIONS_MAX = 1000;
const TYPING_MS = 400;
/** More values than these are counted. */
const NAMED_MAX = 2;

export function Filter({ widget }: { widget: Widget }) {
  const board = useBoard();
  const member = String(widget.config?.member ?? '');
  const title = titleOf(widget);
  const props = { member, title, widget };
  const visibility = visibilityOf(widget);
  if (visibility === 'visible') return kindOf(props, board.round);
  // What is disabled shows what is in force. What is hidden is drawn for its author only.
  return (
    <fieldset class={`fixed-control is-${visibility}`} disabled>
      {kindOf(props, board.round)}
    </fieldset>
  );
}

function kindOf(props: Props, round: number) {
  switch (props.widget.config?.kind) {
    case 'search':
      return <Search {...props} />;
    case 'date-range':
      return <DateRange {...props} />;
    case 'number-range':
      return <NumberRange {...props} />;
    default:
      return <Select key={round} {...props} />;
  }
}

interface Props {
  member: string;
  title: string;
  widget: Widget;
}

const byPlace = (values: readonly string[]) => {
  const places = new Map(values.map((value, i) => [value, i]));
  return (a: string, b: string) => (places.get(a) ?? -1) - (places.get(b) ?? -1);
};

const takesRange = (operator: string) => ['between', 'inDateRange', 'notInDateRange'].includes(operator);

/** What the viewer compares by, and the choice if the author lets them choose. */
function useOperator(widget: Widget) {
  const board = useBoard();
  const member = String(widget.config?.member ?? '');
  const given = board.filters.get(member);
  const offered = operatorsOf(widget.config);
  const [usual, setUsual] = useState(offered[0]!);
  const operator = given?.operator ?? usual;
  const choose = (next: string) => {
    setUsual(next);
    if (WITHOUT_VALUE.has(next)) board.setFilter(member, { operator: next, value: null });
    else if (WITHOUT_VALUE.has(operator)) board.setFilter(member, undefined);
    // Two ends are no single value, and words for a range of dates are no day.
    else if (given && takesRange(next) !== takesRange(operator)) board.setFilter(member, undefined);
    else if (given) board.setFilter(member, { operator: next, value: given.value });
  };
  const hasChoice = offered.length > 1;
  const view = hasChoice && (
    <select
      class="operator"
      aria-label={`${titleOf(widget)}: ${board.say('compare')}`}
      value={operator}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {[...new Set([...offered, operator])].map((one) => (
        <option key={one} value={one}>
          {board.say(`op.${one}` as TextKey)}
        </option>
      ))}
    </select>
  );
  return { operator, view, needsValue: !WITHOUT_VALUE.has(operator) };
}

function Select({ member, title, widget }: Props) {
  const board = useBoard();
  const { say, formats } = board;
  const isMultiple = widget.config?.multiple !== false;
  const [isOpen, setOpen] = useState(false);
  const [found, setFound] = useState<{ key: string; values: string[] }>();
  const [problem, setProblem] = useState<Problem>();
  const [search, setSearch] = useState('');
  const { operator, view, needsValue } = useOperator(widget);
  const root = useRef<HTMLDivElement>(null);
  useClosing(root, isOpen, () => setOpen(false));
  const chosen = listOf(board.filters.get(member)?.value);

  const query = valuesQuery(widget, board, OPTIONS_MAX);
  const key = JSON.stringify(query);
  useEffect(() => {
    if (!isOpen || found?.key === key) return;
    let isLeft = false;
    setProblem(undefined);
    board.load([query]).then(
      ([result]) => {
        const values = result!.data.map((row) => row[member]).filter((value) => value !== null);
        if (!isLeft) setFound({ key, values: values.map(String) });
      },
      (error) => !isLeft && setProblem(error),
    );
    return () => {
      isLeft = true;
    };
  }, [isOpen, key]);
  // What is chosen can be taken back, also if it does not exist together with the rest any more.
  const options = found && [...new Set([...chosen, ...found.values])].sort(byPlace(found.values));

  const choose = (values: string[]) =>
    board.setFilter(member, values.length ? { operator, value: values } : undefined);
  const toggle = (option: string) => {
    if (!isMultiple) {
      choose(chosen.includes(option) ? [] : [option]);
      setOpen(false);
    } else choose(chosen.includes(option) ? chosen.filter((each) => each !== option) : [...chosen, option]);
  };
  const shown = (options ?? []).filter((option) => option.toLowerCase().includes(search.toLowerCase()));
  const label =
    chosen.length === 0
      ? say('all')
      : chosen.length <= NAMED_MAX
        ? chosen.join(', ')
        : say('selected', { count: formats.count(chosen.length) });
  return (
    <div class="control no-print" ref={root}>
      <span class="label" id={`${widget.id}-label`}>
        {title}
      </span>
      {view}
      {needsValue && (
        <button
          type="button"
          id={`${widget.id}-button`}
          class={chosen.length ? 'select chosen' : 'select'}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          aria-labelledby={`${widget.id}-label ${widget.id}-button`}
          onClick={() => setOpen(!isOpen)}
        >
          <span>{label}</span>
          <span class="arrow" aria-hidden="true">
            ▾
          </span>
        </button>
      )}
      {isOpen && (
        <div class="popover" role="dialog" aria-label={title}>
          {problem && <Failure problem={problem} />}
          {!options && !problem && <div class="skeleton" role="status" aria-label={say('loading')} />}
          {options && options.length > 8 && (
            <input
              type="search"
              placeholder={say('search')}
              aria-label={say('search')}
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          )}
          <div class="options">
            {shown.map((option) => (
              <label key={option}>
                <input
                  type={isMultiple ? 'checkbox' : 'radio'}
                  name={widget.id}
                  checked={chosen.includes(option)}
                  onChange={() => toggle(option)}
                />
                <span>{option}</span>
              </label>
            ))}
          </div>
          {chosen.length > 0 && (
            <button type="button" class="quiet" onClick={() => choose([])}>
              {say('clear')}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Search({ member, title, widget }: Props) {
  const board = useBoard();
  const given = board.filters.get(member);
  const { operator, view, needsValue } = useOperator(widget);
  const [text, setText] = useState(listOf(given?.value)[0] ?? '');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(listOf(given?.value)[0] ?? ''), [given]);
  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => board.setFilter(member, value.trim() ? { operator, value: [value.trim()] } : undefined),
      TYPING_MS,
    );
  };
  return (
    <div class="control no-print">
      <label class="label" for={`${widget.id}-input`}>
        {title}
      </label>
      {view}
      {needsValue && (
        <input
          id={`${widget.id}-input`}
          type="search"
          placeholder={board.say('search')}
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

const PRESETS: [string, TextKey][] = [
  ['last 7 days', 'last7'],
  ['last 30 days', 'last30'],
  ['last 90 days', 'last90'],
  ['last 12 months', 'last12'],
  ['this month', 'thisMonth'],
  ['this year', 'thisYear'],
];

function DateRange({ member, title, widget }: Props) {
  const board = useBoard();
  const { say, formats } = board;
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useClosing(root, isOpen, () => setOpen(false));
  const { operator, view, needsValue } = useOperator(widget);
  const isRange = operator === 'between' || operator === 'inDateRange';
  const value = board.filters.get(member)?.value ?? undefined;
  const words =
    typeof value === 'string'
      ? value
      : Array.isArray(value) && value.length === 1
        ? String(value[0])
        : undefined;
  const days = rangeOf(value, board.timezone);
  const preset = PRESETS.find(([range]) => range === words?.toLowerCase());
  const label = preset ? say(preset[1]) : days ? formats.period(days) : (words ?? say('anyTime'));
  const set = (range: unknown) =>
    board.setFilter(member, range ? { operator: isRange ? 'between' : operator, value: range } : undefined);
  const change = (i: 0 | 1, date: string) => {
    if (!date) return;
    if (!isRange) return set([date]);
    const next: [string, string] = [...(days ?? [date, date])];
    next[i] = date;
    if (next[0] > next[1]) next[1 - i] = date;
    set(next);
  };
  return (
    <div class="control no-print" ref={root}>
      <span class="label" id={`${widget.id}-label`}>
        {title}
      </span>
      {view}
      {needsValue && (
        <button
          type="button"
          id={`${widget.id}-button`}
          class={value ? 'select chosen' : 'select'}
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          aria-labelledby={`${widget.id}-label ${widget.id}-button`}
          onClick={() => setOpen(!isOpen)}
        >
          <span>{label}</span>
          <span class="arrow" aria-hidden="true">
            ▾
          </span>
        </button>
      )}
      {isOpen && (
        <div class="popover" role="dialog" aria-label={title}>
          <div class="options">
            {(isRange ? PRESETS : []).map(([range, key]) => (
              <label key={range}>
                <input
                  type="radio"
                  name={widget.id}
                  checked={preset?.[0] === range}
                  onChange={() => set(range)}
                />
                <span>{say(key)}</span>
              </label>
            ))}
          </div>
          <div class="pair">
            {([0, 1] as const).slice(0, isRange ? 2 : 1).map((i) => (
              <label key={i}>
                {isRange ? say(i === 0 ? 'from' : 'to') : say('day')}
                <input
                  type="date"
                  value={days?.[i] ?? ''}
                  onChange={(event) => change(i, event.currentTarget.value)}
                />
              </label>
            ))}
          </div>
          {value !== undefined && (
            <button type="button" class="quiet" onClick={() => set(undefined)}>
              {say('clear')}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function NumberRange({ member, title, widget }: Props) {
  const board = useBoard();
  const { operator, view, needsValue } = useOperator(widget);
  const isRange = operator === 'between' || operator === 'inDateRange';
  const [low, high] = listOf(board.filters.get(member)?.value);
  const set = (from: string, to: string) => {
    if (from === '' && to === '') return board.setFilter(member, undefined);
    const value = isRange
      ? [
          from === '' ? -Number.MAX_SAFE_INTEGER : Number(from),
          to === '' ? Number.MAX_SAFE_INTEGER : Number(to),
        ]
      : [Number(from)];
    board.setFilter(member, { operator: isRange ? 'between' : operator, value });
  };
  const text = (value = '') => (Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER ? '' : value);
  const input = (key: 'min' | 'max' | 'number', value: string, onChange: (text: string) => void) => (
    <input
      type="number"
      placeholder={board.say(key)}
      aria-label={`${title}: ${board.say(key)}`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
  return (
    <fieldset class="control no-print">
      <legend class="label">{title}</legend>
      {view}
      {needsValue && (
        <div class="pair">
          {input(isRange ? 'min' : 'number', text(low), (from) => set(from, isRange ? text(high) : ''))}
          {isRange && input('max', text(high), (to) => set(text(low), to))}
        </div>
      )}
    </fieldset>
  );
}
