/** What a schedule shows, and when it is sent: the controls of its dashboard, and a condition on one of its figures. */
import { useId, useState } from 'preact/hooks';
import { CheckField, SelectField, TextField } from '../dashboard/fields.tsx';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { say } from './say.ts';
import type { Notification, ScheduledDashboard } from './words.ts';

type Filter = NonNullable<Notification['filters']>[number];
type Grain = NonNullable<Notification['timeGrains']>[number];
type Condition = NonNullable<Notification['condition']>;

export interface Choices {
  filters: Filter[];
  timeGrains: Grain[];
  condition: Condition | null;
}

export interface Control {
  member: string;
  title: string;
  kind: string;
  grains: string[];
}

export interface Figure {
  widgetId: string;
  measure: string;
  label: string;
}

export interface ChoiceOptions {
  filters: Control[];
  grains: Control[];
  figures: Figure[];
}

const GRAINS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
const GRAIN_TEXTS = {
  hour: 'hour',
  day: 'dayGrain',
  week: 'week',
  month: 'month',
  quarter: 'quarter',
  year: 'year',
} as const;
/** Times that move on with each run. */
const RANGES = {
  today: 'today',
  yesterday: 'yesterday',
  'last 7 days': 'last7Days',
  'last 30 days': 'last30Days',
  'this month': 'thisMonth',
  'last month': 'lastMonth',
  'this year': 'thisYear',
} as const;
const OPERATORS = {
  above: 'isAbove',
  below: 'isBelow',
  changed_by_percent: 'hasChanged',
  no_data: 'hasNoData',
} as const;
const VALUES_MAX = 200;

/** What the published dashboard has. */
export function useChoiceOptions({ deploymentId, publicId }: ScheduledDashboard) {
  return useData(
    `d/${deploymentId}/schedules/${publicId}/offered`,
    async (signal): Promise<ChoiceOptions> => {
      const { config, reportSnapshots } = await api.getDashboard({ publicId }, { signal });
      const widgets = config.widgets ?? [];
      const controls = (wanted: string) =>
        widgets.flatMap(({ type, config: own }): Control[] => {
          const { member, title, kind, grains } = (own ?? {}) as Record<string, unknown>;
          if (type !== wanted || typeof member !== 'string') return [];
          return [
            {
              member,
              title: String(title || (wanted === 'TIME_GRAIN' ? say('groupBy') : member)),
              kind: String(kind ?? 'select'),
              grains: Array.isArray(grains) ? grains.map(String) : [...GRAINS],
            },
          ];
        });
      const figures = widgets.flatMap(({ id, type, config: own }): Figure[] => {
        const { reportId, title } = (own ?? {}) as { reportId?: unknown; title?: unknown };
        const snapshot = reportSnapshots.find((each) => each.reportId === reportId) as
          | { title?: string; name?: string; meta?: { query?: { measures?: string[] } | null } | null }
          | undefined;
        const measures = snapshot?.meta?.query?.measures ?? [];
        const name = String(title || snapshot?.title || snapshot?.name || '');
        if (type !== 'CHART') return [];
        return measures.map((measure) => ({
          widgetId: id,
          measure,
          label: measures.length > 1 || !name ? `${name} (${measure})`.trim() : name,
        }));
      });
      return { filters: controls('FILTER'), grains: controls('TIME_GRAIN'), figures };
    },
  );
}

type Body = Parameters<typeof api.updateNotification>[0]['body'];

/** Without what the dashboard does not have any more, so that saving mends a schedule that fails for it. */
export function keptOf(
  { filters, timeGrains, condition }: Choices,
  offered: ChoiceOptions,
): Pick<Body, 'filters' | 'timeGrains' | 'condition'> {
  const of = (controls: Control[], member: string) => controls.some((control) => control.member === member);
  const kept = filters.filter(({ member }) => of(offered.filters, member));
  const grains = timeGrains.filter(({ member }) => of(offered.grains, member));
  return {
    filters: kept.length ? (kept as Body['filters']) : null,
    timeGrains: grains.length ? grains : null,
    condition,
  };
}

export function ChoiceFields({
  scheduled,
  offered,
  problem,
  retry,
  choices,
  set,
}: {
  scheduled: ScheduledDashboard;
  offered: ChoiceOptions | undefined;
  problem: unknown;
  retry(): void;
  choices: Choices;
  set(changed: Partial<Choices>): void;
}) {
  if (!offered) return problem ? <Failed problem={problem as never} retry={retry} /> : <Skeleton lines={2} />;
  const setFilter = (member: string, filter: Filter | undefined) =>
    set({
      filters: [...choices.filters.filter((each) => each.member !== member), ...(filter ? [filter] : [])],
    });
  const setGrain = (member: string, grain: string) =>
    set({
      timeGrains: [
        ...choices.timeGrains.filter((each) => each.member !== member),
        ...(grain ? [{ member, grain } as Grain] : []),
      ],
    });
  const hasControls = offered.filters.length + offered.grains.length > 0;
  return (
    <>
      {hasControls && (
        <fieldset class="schedule-choices">
          <legend>{say('shows')}</legend>
          <div class="columns">
            {offered.filters.map((control) => (
              <FilterField
                key={control.member}
                deploymentId={scheduled.deploymentId}
                control={control}
                filter={choices.filters.find(({ member }) => member === control.member)}
                set={(filter) => setFilter(control.member, filter)}
              />
            ))}
            {offered.grains.map(({ member, title, grains }) => (
              <SelectField
                key={member}
                label={title}
                value={choices.timeGrains.find((each) => each.member === member)?.grain ?? ''}
                options={[
                  { value: '', label: say('asOnDashboard') },
                  ...GRAINS.filter((grain) => grains.includes(grain)).map((grain) => ({
                    value: grain,
                    label: say(GRAIN_TEXTS[grain]),
                  })),
                ]}
                onChange={(grain) => setGrain(member, grain)}
              />
            ))}
          </div>
        </fieldset>
      )}
      {offered.figures.length > 0 && (
        <ConditionFields
          figures={offered.figures}
          condition={choices.condition}
          set={(condition) => set({ condition })}
        />
      )}
    </>
  );
}

function FilterField({
  deploymentId,
  control: { member, title, kind },
  filter,
  set,
}: {
  deploymentId: number;
  control: Control;
  filter: Filter | undefined;
  set(filter: Filter | undefined): void;
}) {
  const values = [filter?.value ?? []].flat().map(String);
  if (kind === 'search')
    return (
      <TextField
        label={title}
        value={values[0] ?? ''}
        placeholder={say('asOnDashboard')}
        onChange={(text) => set(text.trim() ? { member, operator: 'contains', value: [text] } : undefined)}
      />
    );
  if (kind === 'date-range' || kind === 'number-range') {
    // A range that was chosen elsewhere stays, and can be taken away.
    const known = kind === 'date-range' && values.length < 2;
    const options = kind === 'date-range' ? Object.entries(RANGES) : [];
    return (
      <SelectField
        label={title}
        value={known ? (values[0] ?? '') : filter ? 'kept' : ''}
        options={[
          { value: '', label: say('asOnDashboard') },
          ...options.map(([value, key]) => ({ value, label: say(key) })),
          ...(filter && (!known || !Object.hasOwn(RANGES, values[0] ?? ''))
            ? [{ value: known ? values[0]! : 'kept', label: values.join(' – ') }]
            : []),
        ]}
        onChange={(value) => {
          if (value !== 'kept') set(value ? { member, operator: 'between', value } : undefined);
        }}
      />
    );
  }
  return <ValuesField {...{ deploymentId, member, title, values, filter, set }} />;
}

/** The values are asked for when it is first opened. */
function ValuesField({
  deploymentId,
  member,
  title,
  values,
  filter,
  set,
}: {
  deploymentId: number;
  member: string;
  title: string;
  values: string[];
  filter: Filter | undefined;
  set(filter: Filter | undefined): void;
}) {
  const [isOpen, setOpen] = useState(false);
  const { data, problem, reload } = useData(
    isOpen ? `d/${deploymentId}/values/${member}` : null,
    async (signal) => {
      const query = { dimensions: [member], order: { [member]: 'asc' }, limit: VALUES_MAX };
      const reply = await api.load({ deploymentId, body: { query } as never }, { signal });
      const { data: rows } = reply as { data: Record<string, unknown>[] };
      return rows.flatMap((row) => (row[member] == null ? [] : [String(row[member])]));
    },
  );
  const choose = (value: string, isChosen: boolean) => {
    const chosen = values.filter((each) => each !== value).concat(isChosen ? [value] : []);
    const operator = filter?.operator ?? 'equals';
    set(chosen.length ? { member, operator, value: chosen } : undefined);
  };
  return (
    <div class="field">
      <span class="label">{title}</span>
      <details class="values" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary aria-label={`${title}: ${values.join(', ') || say('asOnDashboard')}`}>
          {values.join(', ') || <span class="soft">{say('asOnDashboard')}</span>}
        </summary>
        {problem ? (
          <Failed problem={problem} retry={reload} />
        ) : !data ? (
          <Skeleton lines={2} />
        ) : (
          <div class="values-list" role="group" aria-label={title}>
            {[...new Set([...values, ...data])].sort().map((value) => (
              <CheckField
                key={value}
                label={value}
                checked={values.includes(value)}
                onChange={(isChosen) => choose(value, isChosen)}
              />
            ))}
          </div>
        )}
      </details>
    </div>
  );
}

const idOf = ({ widgetId, measure }: Pick<Figure, 'widgetId' | 'measure'>) =>
  JSON.stringify([widgetId, measure]);

function ConditionFields({
  figures,
  condition,
  set,
}: {
  figures: Figure[];
  condition: Condition | null;
  set(condition: Condition | null): void;
}) {
  const { widgetId, measure } = figures[0]!;
  const isKnown = condition && figures.some((figure) => idOf(figure) === idOf(condition));
  return (
    <>
      <CheckField
        label={say('onlyWhen')}
        checked={condition !== null}
        onChange={(isOn) => set(isOn ? { widgetId, measure, operator: 'above', value: 0 } : null)}
      />
      {condition && (
        <fieldset class="schedule-choices">
          <legend>{say('condition')}</legend>
          <div class="columns">
            <SelectField
              label={say('figure')}
              value={idOf(condition)}
              options={[
                ...(isKnown ? [] : [{ value: idOf(condition), label: condition.measure }]),
                ...figures.map((figure) => ({ value: idOf(figure), label: figure.label })),
              ]}
              onChange={(id) => {
                const [widgetId, measure] = JSON.parse(id) as [string, string];
                set({ ...condition, widgetId, measure });
              }}
            />
            <SelectField
              label={say('when')}
              value={condition.operator}
              options={Object.entries(OPERATORS).map(([value, key]) => ({ value, label: say(key) }))}
              onChange={(operator) =>
                set({
                  ...condition,
                  operator: operator as Condition['operator'],
                  value:
                    operator === 'no_data'
                      ? null
                      : condition.value || (operator === 'changed_by_percent' ? 10 : 0),
                })
              }
            />
            {condition.operator !== 'no_data' && (
              <LimitField
                isPercent={condition.operator === 'changed_by_percent'}
                value={condition.value ?? null}
                onChange={(value) => set({ ...condition, value })}
              />
            )}
          </div>
          <p class="soft">{say('conditionHint')}</p>
        </fieldset>
      )}
    </>
  );
}

function LimitField({
  isPercent,
  value,
  onChange,
}: {
  isPercent: boolean;
  value: number | null;
  onChange(value: number | null): void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{say(isPercent ? 'percent' : 'limit')}</label>
      <input
        id={id}
        type="number"
        step="any"
        required
        min={isPercent ? 0.01 : undefined}
        value={value ?? ''}
        onInput={({ currentTarget }) =>
          onChange(currentTarget.value === '' ? null : currentTarget.valueAsNumber)
        }
      />
    </div>
  );
}
