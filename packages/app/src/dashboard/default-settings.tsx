/** What a filter shows before its viewer chooses: picked values, dates that stay relative, or an attribute of the viewer. */
import { operatorsOf, valuesQuery } from '@oriel/charts';
import { useEffect, useState } from 'preact/hooks';
import type { Editor } from './editor.ts';
import { CheckField, Group, NumberField, SelectField, TextField } from './fields.tsx';
import { say } from './say.ts';
import type { WidgetProps } from './settings.tsx';

export type Kind = 'select' | 'search' | 'date-range' | 'number-range';

const RANGES = [
  ['last 7 days', 'last7'],
  ['last 30 days', 'last30'],
  ['last 90 days', 'last90'],
  ['last 12 months', 'last12'],
  ['this month', 'thisMonth'],
  ['this year', 'thisYear'],
] as const;

const ROLLING = /^last (\d{1,4}) ((?:day|week|month|quarter|year)s)$/;

/** What the control shows before the viewer chooses. Relative dates stay relative. */
export function DefaultSettings(props: WidgetProps & { kind: Kind }) {
  const { editor, kind, config, set } = props;
  const given = config.default as DefaultFilter | undefined;
  const names = Object.keys(editor.draft.attributes.value).sort();
  const attribute = given?.userAttribute;
  const offered = [...new Set([...(attribute === undefined ? [] : [attribute]), ...names])];
  const [operator] = operatorsOf(config);
  return (
    <>
      {offered.length > 0 && (
        <SelectField
          label={say('atFirstBy')}
          {...(attribute === undefined ? {} : { hint: say('attributeHint') })}
          value={attribute ?? ''}
          options={[
            { value: '', label: say('aFixedValue') },
            ...offered.map((name) => ({ value: name, label: name, group: say('ofTheViewer') })),
          ]}
          onChange={(name) => set('default', name ? { operator, userAttribute: name } : undefined)}
        />
      )}
      {attribute === undefined && <FixedDefault key={kind} {...props} />}
    </>
  );
}

interface DefaultFilter {
  operator?: string;
  value?: unknown;
  userAttribute?: string;
}

function FixedDefault({ editor, widget, kind, config, set }: WidgetProps & { kind: Kind }) {
  const given = config.default as DefaultFilter | undefined;
  const list = (Array.isArray(given?.value) ? given.value : given?.value == null ? [] : [given.value]).map(
    String,
  );
  const [usual = 'equals'] = operatorsOf(config);
  const choose = (value: unknown) =>
    set('default', value === undefined ? undefined : { operator: usual, value });
  if (kind === 'select')
    return (
      <ValuesField
        editor={editor}
        member={String(config.member ?? '')}
        key={`${widget.id} ${config.member}`}
        isMultiple={config.multiple !== false}
        chosen={list}
        onChange={(values) => choose(values.length ? values : undefined)}
      />
    );
  if (kind === 'search')
    return (
      <TextField
        label={say('atFirst')}
        value={list[0] ?? ''}
        onChange={(text) => choose(text ? [text] : undefined)}
      />
    );
  if (kind === 'date-range') {
    const isRange = usual === 'between';
    const rolling = ROLLING.exec(typeof given?.value === 'string' ? given.value : '');
    const isPreset = RANGES.some(([value]) => value === given?.value);
    const range =
      typeof given?.value === 'string'
        ? rolling && !isPreset
          ? 'rolling'
          : given.value
        : list.length
          ? 'fixed'
          : '';
    const today = new Date().toISOString().slice(0, 10);
    const chooseRange = (chosen: string) =>
      choose(
        chosen === 'fixed'
          ? isRange
            ? [today, today]
            : [today]
          : chosen === 'rolling'
            ? 'last 6 weeks'
            : chosen || undefined,
      );
    return (
      <>
        <SelectField
          label={say('atFirst')}
          value={range}
          options={[
            { value: '', label: say('anything') },
            ...(isRange ? RANGES : []).map(([value, key]) => ({ value, label: say(key) })),
            ...(isRange ? [{ value: 'rolling', label: say('rolling') }] : []),
            { value: 'fixed', label: say('fixedDates') },
            ...(range &&
            range !== 'fixed' &&
            range !== 'rolling' &&
            !RANGES.some(([value]) => value === range)
              ? [{ value: range, label: range }]
              : []),
          ]}
          onChange={chooseRange}
        />
        {range === 'rolling' && (
          <div class="pairs">
            <NumberField
              label={say('count')}
              value={Number(rolling![1])}
              min={1}
              max={9999}
              onChange={(count) => choose(`last ${count} ${rolling![2]}`)}
            />
            <SelectField
              label={say('unit')}
              value={rolling![2]!}
              options={(['day', 'week', 'month', 'quarter', 'year'] as const).map((unit) => ({
                value: `${unit}s`,
                label: say(unit),
              }))}
              onChange={(unit) => choose(`last ${rolling![1]} ${unit}`)}
            />
          </div>
        )}
        {range === 'fixed' && (
          <Pair
            type="date"
            list={list}
            isSingle={!isRange}
            onChange={(pair) => choose(isRange ? pair : [pair[0]])}
          />
        )}
      </>
    );
  }
  return (
    <Group title={say('atFirst')}>
      <Pair
        type="number"
        list={list}
        isSingle={usual !== 'between'}
        onChange={(pair) => {
          if (usual !== 'between') return choose(pair[0] === '' ? undefined : [Number(pair[0])]);
          const [low, high] = pair.map((text) => (text === '' ? undefined : Number(text)));
          const isOpen = low === undefined && high === undefined;
          choose(isOpen ? undefined : [low ?? -Number.MAX_SAFE_INTEGER, high ?? Number.MAX_SAFE_INTEGER]);
        }}
      />
    </Group>
  );
}

function Pair({
  type,
  list,
  isSingle = false,
  onChange,
}: {
  isSingle?: boolean;
  type: 'date' | 'number';
  list: string[];
  onChange(pair: [string, string]): void;
}) {
  const shown = (text = '') => (Math.abs(Number(text)) >= Number.MAX_SAFE_INTEGER ? '' : text);
  const pair: [string, string] = [shown(list[0]), shown(list[1])];
  const input = (i: 0 | 1) => (
    <label class="field">
      <span>{isSingle ? say('value') : say(i === 0 ? 'from' : 'to')}</span>
      <input
        type={type}
        value={pair[i]}
        onChange={(event) => {
          const next: [string, string] = [...pair];
          next[i] = event.currentTarget.value;
          onChange(next);
        }}
      />
    </label>
  );
  return (
    <div class="pairs">
      {input(0)}
      {!isSingle && input(1)}
    </div>
  );
}

const VALUES_MAX = 1000;

/** Values of a field, picked from those that there are, under the author's own rights. */
function ValuesField({
  editor,
  member,
  isMultiple,
  chosen,
  onChange,
}: {
  editor: Editor;
  member: string;
  isMultiple: boolean;
  chosen: readonly string[];
  onChange(values: string[]): void;
}) {
  const [values, setValues] = useState<readonly string[]>();
  const [search, setSearch] = useState('');
  const [hasFailed, setFailed] = useState(false);
  const { board } = editor.draft;
  const isCapped = (values?.length ?? 0) >= VALUES_MAX;
  const asked = isCapped || !values ? search.trim() : '';
  useEffect(() => {
    if (!member) return;
    let isLeft = false;
    const timer = setTimeout(
      () =>
        board
          .load([
            valuesQuery(
              { config: { member } },
              { filters: new Map(), timezone: undefined },
              VALUES_MAX,
              asked,
            ),
          ])
          .then(
            ([result]) => {
              const found = result!.data.map((row) => row[member]).filter((value) => value !== null);
              if (!isLeft) setValues(found.map(String));
            },
            () => !isLeft && setFailed(true),
          ),
      asked ? 300 : 0,
    );
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [member, asked]);
  const words = search.trim().toLocaleLowerCase();
  const shown = [...new Set([...chosen, ...(values ?? [])])].filter(
    (value) => chosen.includes(value) || value.toLocaleLowerCase().includes(words),
  );
  const toggle = (value: string) =>
    chosen.includes(value)
      ? onChange(chosen.filter((one) => one !== value))
      : onChange(isMultiple ? [...chosen, value] : [value]);
  return (
    <Group title={say('atFirst')}>
      {hasFailed && <p class="soft">{say('valuesFailed')}</p>}
      {(values?.length ?? 0) > 8 && (
        <input
          type="search"
          aria-label={say('findValue')}
          placeholder={say('findValue')}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      <div class="values">
        {shown.slice(0, 200).map((value) => (
          <CheckField
            key={value}
            label={value}
            checked={chosen.includes(value)}
            onChange={() => toggle(value)}
          />
        ))}
      </div>
      {chosen.length === 0 && <p class="soft">{say('anything')}</p>}
    </Group>
  );
}
