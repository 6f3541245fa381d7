/** Controls that narrow the dashboard down. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { listOf, rangeOf, titleOf } from '../in-force.ts';
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
  switch (widget.config?.kind) {
    case 'search':
      return <Search {...props} />;
    case 'date-range':
      return <DateRange {...props} />;
    case 'number-range':
      return <NumberRange {...props} />;
    default:
      return <Select key={board.round} {...props} />;
  }
}

interface Props {
  member: string;
  title: string;
  widget: Widget;
}

function Select({ member, title, widget }: Props) {
  const board = useBoard();
  const { say, formats } = board;
  const isMultiple = widget.config?.multiple !== false;
  const [isOpen, setOpen] = useState(false);
  const [options, setOptions] = useState<string[]>();
  const [problem, setProblem] = useState<Problem>();
  const [search, setSearch] = useState('');
  const root = useRef<HTMLDivElement>(null);
  useClosing(root, isOpen, () => setOpen(false));
  const chosen = listOf(board.filters.get(member)?.value);

  useEffect(() => {
    if (!isOpen || options) return;
    setProblem(undefined);
    board.load([{ dimensions: [member], order: { [member]: 'asc' }, limit: OPTIONS_MAX }]).then(
      ([result]) =>
        setOptions(
          result!.data
            .map((row) => row[member])
            .filter((value) => value !== null)
            .map(String),
        ),
      setProblem,
    );
  }, [isOpen]);

  const choose = (values: string[]) =>
    board.setFilter(member, values.length ? { operator: 'equals', value: values } : undefined);
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
  const [text, setText] = useState(listOf(given?.value)[0] ?? '');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(listOf(given?.value)[0] ?? ''), [given]);
  const type = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () =>
        board.setFilter(member, value.trim() ? { operator: 'contains', value: [value.trim()] } : undefined),
      TYPING_MS,
    );
  };
  return (
    <div class="control no-print">
      <label class="label" for={`${widget.id}-input`}>
        {title}
      </label>
      <input
        id={`${widget.id}-input`}
        type="search"
        placeholder={board.say('search')}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
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
  const value = board.filters.get(member)?.value;
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
    board.setFilter(member, range ? { operator: 'between', value: range } : undefined);
  const change = (i: 0 | 1, date: string) => {
    if (!date) return;
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
      {isOpen && (
        <div class="popover" role="dialog" aria-label={title}>
          <div class="options">
            {PRESETS.map(([range, key]) => (
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
            <label>
              {say('from')}
              <input
                type="date"
                value={days?.[0] ?? ''}
                onChange={(event) => change(0, event.currentTarget.value)}
              />
            </label>
            <label>
              {say('to')}
              <input
                type="date"
                value={days?.[1] ?? ''}
                onChange={(event) => change(1, event.currentTarget.value)}
              />
            </label>
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

function NumberRange({ member, title }: Props) {
  const board = useBoard();
  const [low, high] = (
    Array.isArray(board.filters.get(member)?.value) ? board.filters.get(member)!.value : []
  ) as (number | undefined)[];
  const set = (from: string, to: string) => {
    const [min, max] = [from === '' ? undefined : Number(from), to === '' ? undefined : Number(to)];
    if (min === undefined && max === undefined) board.setFilter(member, undefined);
    else
      board.setFilter(member, {
        operator: 'between',
        value: [min ?? -Number.MAX_SAFE_INTEGER, max ?? Number.MAX_SAFE_INTEGER],
      });
  };
  const text = (value: number | undefined) =>
    value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? '' : String(value);
  return (
    <fieldset class="control no-print">
      <legend class="label">{title}</legend>
      <div class="pair">
        <input
          type="number"
          placeholder={board.say('min')}
          aria-label={`${title}: ${board.say('min')}`}
          value={text(low)}
          onChange={(event) => set(event.currentTarget.value, text(high))}
        />
        <input
          type="number"
          placeholder={board.say('max')}
          aria-label={`${title}: ${board.say('max')}`}
          value={text(high)}
          onChange={(event) => set(text(low), event.currentTarget.value)}
        />
      </div>
    </fieldset>
  );
}
