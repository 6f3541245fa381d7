/** Settings of filters and time grains. */
import type { Editor } from './editor.ts';
import { configIn } from './edits.ts';
import { CheckField, Group, SelectField, TextField } from './fields.tsx';
import { say } from './say.ts';
import { TitleField, type WidgetProps } from './settings.tsx';
import { widgetsOf } from './state/doc.ts';

type Kind = 'select' | 'search' | 'date-range' | 'number-range';

/** The controls that fit a type of field. The first is the usual one. */
const KINDS: Record<string, Kind[]> = {
  time: ['date-range'],
  number: ['number-range', 'select'],
  string: ['select', 'search'],
  boolean: ['select'],
};

/** Fields of the data that the charts show come first. */
function fieldOptions(editor: Editor, isWanted: (type: string) => boolean) {
  const owners = new Set(
    widgetsOf(editor.doc)
      .filter(({ type }) => type === 'CHART')
      .flatMap(({ config }) => [...editor.ownersOf(config?.reportId)]),
  );
  const cubes = editor.cubes.value.toSorted(
    (a, b) => Number(owners.has(b.name)) - Number(owners.has(a.name)),
  );
  return cubes.flatMap(({ name, title, dimensions }) =>
    dimensions
      .filter(({ type }) => isWanted(type))
      .map((dimension) => ({
        value: dimension.name,
        label: dimension.title ?? dimension.name,
        group: title ?? name,
      })),
  );
}

const typeOf = (editor: Editor, member: unknown) =>
  editor.dimensions.value.find(({ name }) => name === member)?.type ?? 'string';

function MemberField({ editor, config, set, isWanted }: WidgetProps & { isWanted(type: string): boolean }) {
  const options = fieldOptions(editor, isWanted);
  const member = String(config.member ?? '');
  const isKnown = options.some(({ value }) => value === member);
  return (
    <SelectField
      label={say('field')}
      value={member}
      options={[...(isKnown ? [] : [{ value: member, label: member || say('none') }]), ...options]}
      onChange={(chosen) => set('member', chosen || undefined)}
    />
  );
}

export function ControlSettings(props: WidgetProps) {
  const { editor, config, set, widget } = props;
  const type = typeOf(editor, config.member);
  const kinds = KINDS[type] ?? ['select'];
  const kind = (config.kind as Kind | undefined) ?? 'select';
  /** Another field may need another control; what was chosen at first was about the other field. */
  const setMember = (field: string, value: unknown) =>
    editor.session.change(say('stepEdit', { title: editor.titleOf(widget) }), (doc) => {
      const own = configIn<Record<string, unknown>>(doc, widget.id);
      own[field] = value;
      delete own.default;
      const fitting = KINDS[typeOf(editor, value)] ?? ['select'];
      if (!fitting.includes(own.kind as Kind)) own.kind = fitting[0];
    });
  return (
    <>
      <MemberField {...props} set={setMember} isWanted={(one) => one in KINDS} />
      <TitleField
        config={config}
        set={set}
        placeholder={editor.titleOf({ ...widget, config: { member: config.member } })}
      />
      <SelectField
        label={say('control')}
        value={kind}
        options={[...new Set([...kinds, kind])].map((one) => ({ value: one, label: say(`kind.${one}`) }))}
        onChange={(chosen) => set('kind', chosen)}
      />
      {kind === 'select' && (
        <CheckField
          label={say('multiple')}
          checked={config.multiple !== false}
          onChange={(checked) => set('multiple', checked ? undefined : false)}
        />
      )}
      <DefaultSettings key={`${kind} ${config.member}`} kind={kind} {...props} />
      <Reach {...props} />
    </>
  );
}

const RANGES = [
  ['last 7 days', 'last7'],
  ['last 30 days', 'last30'],
  ['last 90 days', 'last90'],
  ['last 12 months', 'last12'],
  ['this month', 'thisMonth'],
  ['this year', 'thisYear'],
] as const;

/** What the control shows before the viewer chooses. Relative dates stay relative. */
function DefaultSettings({ kind, config, set }: WidgetProps & { kind: Kind }) {
  const given = config.default as { operator?: string; value?: unknown } | undefined;
  const list = (Array.isArray(given?.value) ? given.value : given?.value == null ? [] : [given.value]).map(
    String,
  );
  const choose = (operator: string, value: unknown) =>
    set('default', value === undefined ? undefined : { operator, value });
  if (kind === 'select')
    return (
      <TextField
        label={`${say('atFirst')}: ${say('values')}`}
        rows={3}
        maxLength={5000}
        placeholder={say('anything')}
        value={list.join('\n')}
        onChange={(text) => {
          const values = text.split('\n');
          const kept = values.filter((value, i) => value.trim() || i === values.length - 1);
          choose('equals', kept.some((value) => value.trim()) ? kept : undefined);
        }}
      />
    );
  if (kind === 'search')
    return (
      <TextField
        label={`${say('atFirst')}: ${say('contains')}`}
        value={list[0] ?? ''}
        onChange={(text) => choose('contains', text ? [text] : undefined)}
      />
    );
  if (kind === 'date-range') {
    const range = typeof given?.value === 'string' ? given.value : list.length === 2 ? 'fixed' : '';
    const today = new Date().toISOString().slice(0, 10);
    return (
      <>
        <SelectField
          label={say('atFirst')}
          value={range}
          options={[
            { value: '', label: say('anything') },
            ...RANGES.map(([value, key]) => ({ value, label: say(key) })),
            { value: 'fixed', label: say('fixedDates') },
            ...(range && range !== 'fixed' && !RANGES.some(([value]) => value === range)
              ? [{ value: range, label: range }]
              : []),
          ]}
          onChange={(chosen) => choose('between', chosen === 'fixed' ? [today, today] : chosen || undefined)}
        />
        {range === 'fixed' && <Pair type="date" list={list} onChange={(pair) => choose('between', pair)} />}
      </>
    );
  }
  return (
    <Group title={say('atFirst')}>
      <Pair
        type="number"
        list={list}
        onChange={(pair) => {
          const [low, high] = pair.map((text) => (text === '' ? undefined : Number(text)));
          const isOpen = low === undefined && high === undefined;
          choose(
            'between',
            isOpen ? undefined : [low ?? -Number.MAX_SAFE_INTEGER, high ?? Number.MAX_SAFE_INTEGER],
          );
        }}
      />
    </Group>
  );
}

function Pair({
  type,
  list,
  onChange,
}: {
  type: 'date' | 'number';
  list: string[];
  onChange(pair: [string, string]): void;
}) {
  const shown = (text = '') => (Math.abs(Number(text)) >= Number.MAX_SAFE_INTEGER ? '' : text);
  const pair: [string, string] = [shown(list[0]), shown(list[1])];
  const input = (i: 0 | 1) => (
    <label class="field">
      <span>{say(i === 0 ? 'from' : 'to')}</span>
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
      {input(1)}
    </div>
  );
}

/** Which charts a control reaches: by itself those about the same data, or those that the author chooses. */
function Reach({ editor, config, set }: WidgetProps) {
  const charts = widgetsOf(editor.doc).filter(({ type }) => type === 'CHART');
  const own = editor.reachable(config.member);
  const chosen =
    Array.isArray(config.widgets) && config.widgets.length ? (config.widgets as string[]) : undefined;
  if (!charts.length) return null;
  return (
    <Group title={say('reaches')}>
      <SelectField
        label={say('reaches')}
        value={chosen ? 'chosen' : 'all'}
        options={[
          { value: 'all', label: say('reachesAll') },
          { value: 'chosen', label: say('reachesChosen') },
        ]}
        onChange={(how) =>
          set('widgets', how === 'all' ? undefined : own.size ? [...own] : charts.map(({ id }) => id))
        }
      />
      {charts.map((chart) =>
        chosen ? (
          <CheckField
            key={chart.id}
            label={editor.titleOf(chart)}
            {...(own.has(chart.id) ? {} : { note: say('notReached') })}
            checked={chosen.includes(chart.id)}
            onChange={(checked) => {
              const next = checked ? [...chosen, chart.id] : chosen.filter((id) => id !== chart.id);
              set('widgets', next.length ? next : undefined);
            }}
          />
        ) : (
          <p key={chart.id} class={own.has(chart.id) ? 'reach' : 'reach soft'}>
            <span>{editor.titleOf(chart)}</span>{' '}
            <span>{say(own.has(chart.id) ? 'isReached' : 'notReached')}</span>
          </p>
        ),
      )}
      {!chosen && config.member != null && own.size === 0 && <p class="soft">{say('unreached')}</p>}
    </Group>
  );
}

const GRAINS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

export function GrainSettings(props: WidgetProps) {
  const { config, set } = props;
  const grains = Array.isArray(config.grains) ? (config.grains as string[]) : ['day', 'week', 'month'];
  return (
    <>
      <MemberField {...props} isWanted={(type) => type === 'time'} />
      <TitleField config={config} set={set} />
      <Group title={say('grains')}>
        {GRAINS.map((grain) => (
          <CheckField
            key={grain}
            label={say(grain)}
            checked={grains.includes(grain)}
            onChange={(checked) => {
              const next = GRAINS.filter((one) => (one === grain ? checked : grains.includes(one)));
              if (next.length) set('grains', next);
            }}
          />
        ))}
      </Group>
      <SelectField
        label={say('atFirst')}
        value={String(config.default ?? '')}
        options={[
          { value: '', label: '–' },
          ...GRAINS.filter((grain) => grains.includes(grain)).map((grain) => ({
            value: grain,
            label: say(grain),
          })),
        ]}
        onChange={(grain) => set('default', grain || undefined)}
      />
    </>
  );
}
