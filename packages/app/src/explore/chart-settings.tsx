/** The settings of a chart in the words of people. What is not set follows the query. */
import { columnsOf, describeAll, type Visualization } from '@oriel/visualization';
import { AxisSettings, References, SeriesSettings } from './chart-parts.tsx';
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
const LEGENDS: Type[] = [...CARTESIAN, 'pie', 'donut', 'scatter', 'bubble', 'heatmap'];

export function ChartSettings({ exploration, answer }: { exploration: Exploration; answer: Answer }) {
  const question = exploration.question.value;
  const { visualization } = answer;
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
  const number = (name: 'min' | 'max' | 'target' | 'bins', label: TextKey) => (
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
        </Section>
      )}
      {type === 'pivot' && (
        <Section title={say('columns')}>
          {groups.map(({ member }) => {
            const chosen = visualization.fields?.columns ?? groups.slice(1, 2).map((column) => column.member);
            return (
              <Check
                key={member}
                label={titleOf(member)}
                isOn={chosen.includes(member)}
                onChange={(isOn) =>
                  setField('columns', isOn ? [...chosen, member] : chosen.filter((each) => each !== member))
                }
              />
            );
          })}
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
        {has(LINES) && (
          <>
            {choose('curve', 'curve', [
              ['straight', 'straight'],
              ['smooth', 'smooth'],
              ['step', 'step'],
            ])}
            {choose('emptyValues', 'emptyValues', [
              ['gap', 'gap'],
              ['zero', 'zero'],
              ['connect', 'connect'],
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
      {has(CARTESIAN) && <SeriesSettings {...{ visualization, set, y, titleOf }} />}
      {has([...CARTESIAN, 'scatter', 'bubble']) && <References {...{ visualization, set }} />}
      {y.length > 0 && type !== 'text' && (
        <Section title={say('number')}>
          {y.map((member) => (
            <Choice
              key={member}
              label={say('formatOf', { name: titleOf(member) })}
              value={visualization.formats?.[member]?.type ?? ''}
              options={[
                ['', say('formatAuto')],
                ['number', say('formatNumber')],
                ['percent', say('formatPercent')],
                ['currency', say('formatCurrency')],
              ]}
              onChange={(kind) => {
                const { [member]: _before, ...others } = visualization.formats ?? {};
                set({ formats: kind ? { ...others, [member]: { type: kind as 'number' } } : others });
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
