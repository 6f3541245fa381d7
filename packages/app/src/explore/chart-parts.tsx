/** Settings of the parts of a chart: axes, series and lines across. */
import type { Visualization } from '@oriel/visualization';
import { tokens } from '../look.ts';
import { Icon } from '../parts/icons.tsx';
import { Check, Choice, Section } from './settings-controls.tsx';
import { say } from './texts/say.ts';

/** The colours that series have now: those of the settings, or those of the theme. */
export const colorsOf = ({ palette }: Visualization): string[] =>
  palette?.length ? [...palette] : tokens.value.series.filter((color) => /^#[0-9a-f]{6}$/i.test(color));

interface PartProps {
  visualization: Visualization;
  set(changed: Partial<Visualization>, field?: string): void;
}

export function AxisSettings({ name, visualization, set }: PartProps & { name: 'x' | 'y' | 'right' }) {
  const axis = visualization.axes?.[name];
  const change = (changed: object, field?: string) =>
    set({ axes: { ...visualization.axes, [name]: { ...axis, ...changed } } }, field && `${name}-${field}`);
  const text = name === 'right' ? say('right') : name.toUpperCase();
  return (
    <details class="settings-section">
      <summary>{say('axis', { name: text })}</summary>
      <div class="settings-body">
        <label class="field">
          <span>{say('axisTitle')}</span>
          <input
            value={axis?.title ?? ''}
            maxLength={255}
            onInput={({ currentTarget: { value } }) => change({ title: value || null }, 'title')}
          />
        </label>
        <Choice
          label={say('scale')}
          value={axis?.scale ?? 'linear'}
          options={(['linear', 'log', 'sqrt'] as const).map((scale) => [scale, say(scale)])}
          onChange={(scale) => change({ scale })}
        />
        <div class="two">
          {(['min', 'max'] as const).map((end) => (
            <label key={end} class="field">
              <span>{say(end)}</span>
              <input
                type="number"
                step="any"
                value={axis?.[end] ?? ''}
                onInput={({ currentTarget: { value } }) =>
                  change({ [end]: value === '' ? null : Number(value) }, end)
                }
              />
            </label>
          ))}
        </div>
        <Choice
          label={say('grid')}
          value={axis?.grid == null ? '' : String(axis.grid)}
          options={[
            ['', say('automatic')],
            ['true', say('shown')],
            ['false', say('hidden')],
          ]}
          onChange={(grid) => change({ grid: grid ? grid === 'true' : null })}
        />
        <Check label={say('fromZero')} isOn={axis?.zero ?? false} onChange={(zero) => change({ zero })} />
        <Check label={say('hidden')} isOn={axis?.hidden ?? false} onChange={(hidden) => change({ hidden })} />
      </div>
    </details>
  );
}

export function SeriesSettings({
  visualization,
  set,
  y,
  names,
}: PartProps & {
  /** Measures or, where a dimension splits them, its values. */
  y: string[];
  names(key: string): string;
}) {
  const palette = colorsOf(visualization);
  /** Colours count only if every series has one: the others get the one that they have now. */
  const paint = (key: string, color: string) => {
    const series = { ...visualization.series };
    for (const [i, each] of y.entries())
      series[each] = {
        ...series[each],
        color: each === key ? color : (series[each]?.color ?? palette[i % palette.length]!),
      };
    set({ series }, `${key}-color`);
  };
  const change = (member: string, changed: object, field?: string) =>
    set(
      { series: { ...visualization.series, [member]: { ...visualization.series?.[member], ...changed } } },
      field && `${member}-${field}`,
    );
  return (
    <Section title={say('series')}>
      {y.map((member, i) => {
        const series = visualization.series?.[member];
        return (
          <div key={member} class="series">
            <input
              aria-label={say('name')}
              value={series?.title ?? ''}
              placeholder={names(member)}
              maxLength={255}
              onInput={({ currentTarget: { value } }) => change(member, { title: value || null }, 'title')}
            />
            <input
              type="color"
              aria-label={say('color', { name: names(member) })}
              value={series?.color ?? palette[i % palette.length]}
              onInput={({ currentTarget: { value } }) => paint(member, value)}
            />
            {visualization.type === 'combo' && (
              <div class="two">
                <Choice
                  label={say('seriesMark')}
                  value={series?.mark ?? (member === y[0] ? 'column' : 'line')}
                  options={[
                    ['column', say('markColumn')],
                    ['line', say('markLine')],
                    ['area', say('markArea')],
                  ]}
                  onChange={(mark) => change(member, { mark })}
                />
                <Choice
                  label={say('seriesAxis')}
                  value={series?.axis ?? (member === y[0] ? 'left' : 'right')}
                  options={[
                    ['left', say('left')],
                    ['right', say('right')],
                  ]}
                  onChange={(axis) => change(member, { axis })}
                />
              </div>
            )}
          </div>
        );
      })}
    </Section>
  );
}

/** What a line across is called unless somebody gives it a text. Numbers have none. */
const textOfReference = (kind: string) =>
  ({ average: say('average'), median: say('median'), min: say('smallest'), max: say('largest') })[kind] ??
  null;

export function References({ visualization, set }: PartProps) {
  const references = visualization.references ?? [];
  const change = (at: number, changed: object, field?: string) =>
    set(
      { references: references.map((each, i) => (i === at ? { ...each, ...changed } : each)) },
      field && `reference-${at}-${field}`,
    );
  return (
    <Section title={say('references')}>
      {references.map((reference, i) => (
        <div key={i} class="series">
          <Choice
            label={say('referenceValue')}
            value={reference.measure ?? 'fixed'}
            options={[
              ...(['fixed', 'average', 'median'] as const).map((kind): [string, string] => [kind, say(kind)]),
              ['min', say('smallest')],
              ['max', say('largest')],
            ]}
            onChange={(kind) =>
              change(i, {
                ...(kind === 'fixed'
                  ? { measure: null, value: 0 }
                  : { measure: kind, value: null, to: null }),
                ...((reference.label ?? null) === textOfReference(reference.measure ?? 'fixed')
                  ? { label: textOfReference(kind) }
                  : {}),
              })
            }
          />
          {!reference.measure && (
            <div class="two">
              {(['value', 'to'] as const).map((end) => (
                <label key={end} class="field">
                  <span>{say(end === 'value' ? 'value' : 'bandTo')}</span>
                  <input
                    type="number"
                    step="any"
                    value={reference[end] ?? ''}
                    onInput={({ currentTarget: { value } }) =>
                      change(i, { [end]: value === '' ? null : Number(value) }, end)
                    }
                  />
                </label>
              ))}
            </div>
          )}
          <input
            type="color"
            aria-label={say('color', { name: reference.label ?? say('references') })}
            value={reference.color ?? '#888888'}
            onInput={({ currentTarget: { value } }) => change(i, { color: value }, 'color')}
          />
          <input
            aria-label={say('text')}
            placeholder={say('text')}
            value={reference.label ?? ''}
            maxLength={255}
            onInput={({ currentTarget: { value } }) => change(i, { label: value || null }, 'label')}
          />
          <button
            type="button"
            class="icon small"
            aria-label={say('removeReference')}
            onClick={() => set({ references: references.filter((_, at) => at !== i) })}
          >
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
      <button
        type="button"
        class="quiet with-icon"
        onClick={() => set({ references: [...references, { measure: 'average', label: say('average') }] })}
      >
        <Icon name="plus" size={14} />
        {say('addReference')}
      </button>
    </Section>
  );
}

const COLORS_MAX = 12;

/** Colours in place of those of the account's theme. */
export function Palette({ visualization, set }: PartProps) {
  const { palette } = visualization;
  const colors = colorsOf(visualization);
  const put = (next: string[], field?: string) => set({ palette: next }, field);
  return (
    <fieldset class="palette-field">
      <legend>{say('palette')}</legend>
      <div class="swatches">
        {colors.slice(0, COLORS_MAX).map((color, i) => (
          <input
            key={i}
            type="color"
            aria-label={say('colorNumber', { number: i + 1 })}
            value={color}
            onInput={({ currentTarget: { value } }) =>
              put(
                colors.map((each, at) => (at === i ? value : each)),
                `palette-${i}`,
              )
            }
          />
        ))}
      </div>
      {palette?.length ? (
        <button type="button" class="quiet" onClick={() => set({ palette: null })}>
          {say('paletteOfTheme')}
        </button>
      ) : (
        <p class="soft note">{say('paletteOfTheme')}</p>
      )}
    </fieldset>
  );
}

/** Which members are rows of a pivot table and which are columns, and in which order. */
export function PivotFields({
  rows,
  columns,
  titleOf,
  onChange,
}: {
  rows: string[];
  columns: string[];
  titleOf(member: string): string;
  onChange(fields: { rows: string[]; columns: string[] }): void;
}) {
  const lists = { rows, columns };
  const put = (list: 'rows' | 'columns', member: string) => {
    const other = list === 'rows' ? 'columns' : 'rows';
    onChange({
      ...lists,
      [other]: lists[other].filter((each) => each !== member),
      [list]: [...lists[list].filter((each) => each !== member), member],
    });
  };
  const step = (list: 'rows' | 'columns', at: number, by: number) => {
    const next = [...lists[list]];
    const [one] = next.splice(at, 1);
    next.splice(at + by, 0, one!);
    onChange({ ...lists, [list]: next });
  };
  return (
    <>
      {(['rows', 'columns'] as const).map((list) => (
        <fieldset key={list} class="pivot-fields">
          <legend>{say(list === 'rows' ? 'rowsOfPivot' : 'columns')}</legend>
          {lists[list].map((member, i) => (
            <div key={member} class="pivot-field">
              <span class="grow">{titleOf(member)}</span>
              <button
                type="button"
                class="icon small"
                disabled={i === 0}
                aria-label={`${say('moveUp')}: ${titleOf(member)}`}
                title={say('moveUp')}
                onClick={() => step(list, i, -1)}
              >
                <span aria-hidden="true">↑</span>
              </button>
              <button
                type="button"
                class="icon small"
                disabled={i === lists[list].length - 1}
                aria-label={`${say('moveDown')}: ${titleOf(member)}`}
                title={say('moveDown')}
                onClick={() => step(list, i, 1)}
              >
                <span aria-hidden="true">↓</span>
              </button>
              <button
                type="button"
                class="quiet"
                onClick={() => put(list === 'rows' ? 'columns' : 'rows', member)}
              >
                {say(list === 'rows' ? 'toColumns' : 'toRows')}
              </button>
            </div>
          ))}
          {lists[list].length === 0 && <p class="soft note">{say('none')}</p>}
        </fieldset>
      ))}
    </>
  );
}
