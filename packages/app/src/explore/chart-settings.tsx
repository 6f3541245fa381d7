/** The settings of a chart in the words of people. What is not set follows the query. */
import { channelsOf, columnsOf, describeAll, type Visualization } from '@oriel/visualization';
import { AxisSettings, Palette, PivotFields, References, SeriesSettings } from './chart-parts.tsx';
import type { Answer, Exploration } from './exploration.ts';
import { describeWith } from './members.ts';
import { toQuery } from './question.ts';
import { Check, Choice, Section } from './settings-controls.tsx';
import { say, type TextKey } from './texts/say.ts';

type Type = Visualization['type'];
const CARTESIAN: Type[] = ['bar', 'column', 'line', 'area', 'combo'];
const AXES: Type[] = [...CARTESIAN, 'scatter', 'bubble', 'waterfall', 'boxplot', 'histogram'];
const BARS: Type[] = ['bar', 'column', 'area', 'combo'];
const LINES: Type[] = ['line', 'area', 'combo'];
const LABELLED: Type[] = [
  ...CARTESIAN,
  'pie',
  'donut',
  'scatter',
  'bubble',
  'heatmap',
  'funnel',
  'waterfall',
];
const COLORED: Type[] = [...LABELLED, 'histogram', 'boxplot'];
const TOOLTIPS: Type[] = [...CARTESIAN, 'pie', 'donut', 'scatter', 'bubble', 'heatmap'];
/** More than this would fill the page. */
const SPLIT_MAX = 12;
const LEGENDS: Type[] = [...CARTESIAN, 'pie', 'donut', 'scatter', 'bubble', 'heatmap'];

export function ChartSettings({ exploration, answer }: { exploration: Exploration; answer: Answer }) {
  const question = exploration.question.value;
  // What was just set is not in the answer yet, and the next setting must not lose it.
  const visualization: Visualization = { ...answer.visualization, ...question.visualization };
  const { type } = visualization;
  const query = toQuery(question);
  const describe = describeAll(query, describeWith(exploration.model));
  const columns = columnsOf(query, describe);
  const groups = columns.filter(({ kind }) => kind !== 'measure');
  const titleOf = (member: string) => describe(member)?.shortTitle ?? member;
  const optionsOf = (list: typeof columns) =>
    list.map(({ member, granularity }): [string, string] => [
      member,
      granularity ? `${titleOf(member)} (${granularity})` : titleOf(member),
    ]);
  /** From now on the type is chosen, too. */
  const set = (changed: Partial<Visualization>, field?: string) =>
    exploration.change(
      say('settings'),
      (before) => {
        const { periodComparisons: _earlier, comparison: _before, ...own } = visualization;
        return { ...before, visualization: { ...own, ...changed } };
      },
      field && `chart-${field}`,
    );
  const setField = (name: string, value: string | string[] | null) =>
    set({ fields: { ...visualization.fields, [name]: value } });
  const y = visualization.fields?.y?.length
    ? visualization.fields.y
    : columns.filter(({ kind }) => kind === 'measure').map(({ member }) => member);
  const has = (types: Type[]) => types.includes(type);
  const channels = channelsOf(visualization, columns);
  /** The values that split the measure into series. */
  const splitBy = y.length === 1 && !has(['combo']) ? channels.color?.member : undefined;
  const splitValues = splitBy
    ? [...new Set(answer.rows.rows.map((row) => String(row[splitBy] ?? '')))].slice(0, SPLIT_MAX)
    : [];
  const choose = <Name extends keyof Visualization>(
    name: Name,
    label: TextKey,
    options: [value: string, text: TextKey][],
  ) => (
    <Choice
      label={say(label)}
      value={String(visualization[name] ?? '')}
      options={[
        ['', say('automatic')],
        ...options.map(([value, text]): [string, string] => [value, say(text)]),
      ]}
      onChange={(value) => set({ [name]: value || null } as Partial<Visualization>)}
    />
  );
  const number = (name: 'min' | 'max' | 'target' | 'bins' | 'facetColumns', label: TextKey) => (
    <label class="field">
      <span>{say(label)}</span>
      <input
        type="number"
        step="any"
        value={visualization[name] ?? ''}
        onInput={({ currentTarget: { value } }) => set({ [name]: value === '' ? null : Number(value) }, name)}
      />
    </label>
  );
  const times =
    exploration.model.bySource.get(question.source ?? '')?.filter(({ kind }) => kind === 'time') ?? [];

  return (
    <div class="chart-options" role="group" aria-label={say('settings')}>
      {(has(AXES) || has(['heatmap', 'map', 'pie', 'donut', 'funnel'])) && groups.length > 0 && (
        <Section title={say('fields')}>
          <Choice
            label={say('alongAxis')}
            value={visualization.fields?.x ?? ''}
            options={[
              ['', say('automatic')],
              ...optionsOf(has(['scatter', 'bubble', 'histogram']) ? columns : groups),
            ]}
            onChange={(value) => setField('x', value || null)}
          />
          {(has(CARTESIAN) || has(['scatter', 'bubble', 'heatmap'])) && (
            <Choice
              label={say('splitInto')}
              value={visualization.fields?.color ?? ''}
              options={[['', say('automatic')], ...optionsOf(groups)]}
              onChange={(value) => setField('color', value || null)}
            />
          )}
          {type === 'bubble' && (
            <Choice
              label={say('size')}
              value={visualization.fields?.size ?? ''}
              options={[
                ['', say('automatic')],
                ...optionsOf(columns.filter(({ kind }) => kind === 'measure')),
              ]}
              onChange={(value) => setField('size', value || null)}
            />
          )}
          {(has(AXES) || has(['heatmap', 'pie', 'donut', 'funnel'])) && (
            <Choice
              label={say('smallMultiples')}
              value={visualization.fields?.facet ?? ''}
              options={[['', say('none')], ...optionsOf(groups)]}
              onChange={(value) => setField('facet', value || null)}
            />
          )}
          {channels.facet && number('facetColumns', 'facetColumns')}
        </Section>
      )}
      {type === 'pointMap' && (
        <Section title={say('fields')}>
          {(
            [
              ['latitude', 'latitude', columns.filter(({ kind }) => kind === 'number' || kind === 'measure')],
              [
                'longitude',
                'longitude',
                columns.filter(({ kind }) => kind === 'number' || kind === 'measure'),
              ],
              ['size', 'size', columns.filter(({ kind }) => kind === 'measure')],
              ['detail', 'name', groups],
            ] as const
          ).map(([field, label, offered]) => (
            <Choice
              key={field}
              label={say(label)}
              value={visualization.fields?.[field] ?? ''}
              options={[['', say('automatic')], ...optionsOf(offered)]}
              onChange={(value) => setField(field, value || null)}
            />
          ))}
        </Section>
      )}
      {type === 'pivot' && (
        <Section title={say('fields')}>
          <PivotFields
            {...pivotFieldsOf(visualization, groups)}
            titleOf={titleOf}
            onChange={(fields) => set({ fields: { ...visualization.fields, ...fields } })}
          />
        </Section>
      )}
      <Section title={say('look')}>
        {has(BARS) &&
          choose('stacking', 'stacking', [
            ['none', 'stackNone'],
            ['stacked', 'stackStacked'],
            ['percent', 'stackPercent'],
          ])}
        {has(LABELLED) &&
          choose('labels', 'labels', [
            ['none', 'labelsNone'],
            ['value', 'labelsValue'],
            ['percent', 'labelsPercent'],
          ])}
        {has(LEGENDS) &&
          choose('legend', 'legend', [
            ['top', 'top'],
            ['bottom', 'bottom'],
            ['left', 'left'],
            ['right', 'right'],
            ['none', 'hidden'],
          ])}
        {has(CARTESIAN) &&
          choose('emptyValues', 'emptyValues', [
            ['gap', 'gap'],
            ['zero', 'zero'],
            ...(has(LINES) ? ([['connect', 'connect']] as [string, TextKey][]) : []),
          ])}
        {has(COLORED) && <Palette {...{ visualization, set }} />}
        {has(LINES) && (
          <>
            {choose('curve', 'curve', [
              ['straight', 'straight'],
              ['smooth', 'smooth'],
              ['step', 'step'],
            ])}
            <Check
              label={say('points')}
              isOn={visualization.points === true}
              onChange={(points) => set({ points })}
            />
          </>
        )}
        {has(['bar', 'column']) && (
          <>
            <Choice
              label={say('sort')}
              value={visualization.sort?.by ?? 'query'}
              options={[
                ['query', say('sortQuery')],
                ['name', say('sortName')],
                ['value', say('sortValue')],
              ]}
              onChange={(by) =>
                set({ sort: { by: by as 'query', desc: visualization.sort?.desc ?? by === 'value' } })
              }
            />
            {visualization.sort && visualization.sort.by !== 'query' && (
              <Check
                label={say('descending')}
                isOn={visualization.sort.desc === true}
                onChange={(desc) => set({ sort: { ...visualization.sort!, desc } })}
              />
            )}
          </>
        )}
        {has(['table', 'pivot']) && (
          <Check
            label={say('totals')}
            isOn={visualization.totals ?? type === 'pivot'}
            onChange={(totals) => set({ totals })}
          />
        )}
        {type === 'histogram' && number('bins', 'bins')}
        {type === 'gauge' && (
          <>
            {number('min', 'min')}
            {number('max', 'max')}
            {number('target', 'target')}
          </>
        )}
        {type === 'kpi' && (
          <>
            {choose('goodWhen', 'goodWhen', [
              ['up', 'up'],
              ['down', 'down'],
            ])}
            <Choice
              label={say('sparkline')}
              value={visualization.sparkline?.timeDimension ?? ''}
              options={[
                ['', say('none')],
                ...times.map(({ name, title }): [string, string] => [name, title]),
              ]}
              onChange={(timeDimension) =>
                set({ sparkline: timeDimension ? { timeDimension, granularity: 'month' } : null })
              }
            />
          </>
        )}
        {type === 'text' && (
          <label class="field">
            <span>{say('text')}</span>
            <textarea
              rows={6}
              value={visualization.text ?? ''}
              onInput={({ currentTarget: { value } }) => set({ text: value }, 'text')}
            />
          </label>
        )}
      </Section>
      {has(AXES) && (
        <>
          <AxisSettings name="x" {...{ visualization, set }} />
          <AxisSettings name="y" {...{ visualization, set }} />
          {type === 'combo' && <AxisSettings name="right" {...{ visualization, set }} />}
        </>
      )}
      {has(CARTESIAN) && (
        <SeriesSettings
          {...{ visualization, set }}
          y={splitValues.length ? splitValues : y}
          names={splitValues.length ? (value) => value || '–' : titleOf}
        />
      )}
      {has(TOOLTIPS) && columns.length > 1 && (
        <Section title={say('tooltip')}>
          {columns.map(({ member }) => {
            const named = visualization.tooltip?.length
              ? visualization.tooltip
              : columns.map((column) => column.member);
            return (
              <Check
                key={member}
                label={titleOf(member)}
                isOn={named.includes(member)}
                onChange={(isOn) =>
                  set({
                    tooltip: columns
                      .map((column) => column.member)
                      .filter((each) => (each === member ? isOn : named.includes(each))),
                  })
                }
              />
            );
          })}
        </Section>
      )}
      {has([...CARTESIAN, 'scatter', 'bubble']) && <References {...{ visualization, set }} />}
      {y.length > 0 && type !== 'text' && (
        <Section title={say('number')}>
          {y.map((member) => (
            <NumberFormat
              key={member}
              name={titleOf(member)}
              format={visualization.formats?.[member]}
              onChange={(format) => {
                const { [member]: _before, ...others } = visualization.formats ?? {};
                set({ formats: format ? { ...others, [member]: format } : others });
              }}
            />
          ))}
        </Section>
      )}
      {question.visualization && (
        <button
          type="button"
          onClick={() =>
            exploration.change(say('resetChart'), (before) => ({
              ...before,
              visualization: undefined,
              vegaLite: undefined,
            }))
          }
        >
          {say('resetChart')}
        </button>
      )}
    </div>
  );
}

type Columns = ReturnType<typeof columnsOf>;

/** As the table is drawn: what is not named as a column is a row. */
function pivotFieldsOf({ fields }: Visualization, groups: Columns) {
  const all = groups.map(({ member }) => member);
  const columns = (fields?.columns ?? all.slice(1, 2)).filter((member) => all.includes(member));
  const chosen = (fields?.rows ?? []).filter((member) => all.includes(member));
  const rows = [...new Set([...chosen, ...all])].filter((member) => !columns.includes(member));
  return { rows, columns };
}

type Format = NonNullable<Visualization['formats']>[string];

function NumberFormat({
  name,
  format,
  onChange,
}: {
  name: string;
  format: Format | undefined;
  onChange(format: Format | undefined): void;
}) {
  return (
    <div class="number-format">
      <Choice
        label={say('formatOf', { name })}
        value={format?.type ?? ''}
        options={[
          ['', say('formatAuto')],
          ['number', say('formatNumber')],
          ['percent', say('formatPercent')],
          ['currency', say('formatCurrency')],
        ]}
        onChange={(type) => onChange(type ? { ...format, type: type as 'number' } : undefined)}
      />
      {format && (
        <label class="field">
          <span>{say('decimals')}</span>
          <input
            type="number"
            min={0}
            max={10}
            value={format.decimalPlaces ?? ''}
            onInput={({ currentTarget: { value } }) =>
              onChange({
                ...format,
                decimalPlaces: value === '' ? null : Math.min(10, Math.max(0, Number(value))),
              })
            }
          />
        </label>
      )}
    </div>
  );
}
