/** Settings of the parts of a chart: axes, series and lines across. */
import type { Visualization } from '@oriel/visualization';
import { Icon } from '../parts/icons.tsx';
import { Check, Choice, Section } from './settings-controls.tsx';
import { say } from './texts/say.ts';

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
  titleOf,
}: PartProps & { y: string[]; titleOf(member: string): string }) {
  const change = (member: string, changed: object, field?: string) =>
    set(
      { series: { ...visualization.series, [member]: { ...visualization.series?.[member], ...changed } } },
      field && `${member}-${field}`,
    );
  return (
    <Section title={say('series')}>
      {y.map((member) => {
        const series = visualization.series?.[member];
        return (
          <div key={member} class="series">
            <input
              aria-label={say('name')}
              value={series?.title ?? ''}
              placeholder={titleOf(member)}
              maxLength={255}
              onInput={({ currentTarget: { value } }) => change(member, { title: value || null }, 'title')}
            />
            <input
              type="color"
              aria-label={say('color', { name: titleOf(member) })}
              value={series?.color ?? '#3451c6'}
              onInput={({ currentTarget: { value } }) => change(member, { color: value }, 'color')}
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
            options={(['fixed', 'average', 'median', 'min', 'max'] as const).map((kind) => [
              kind,
              kind === 'min' || kind === 'max' ? kind : say(kind),
            ])}
            onChange={(kind) =>
              change(i, kind === 'fixed' ? { measure: null, value: 0 } : { measure: kind, value: null })
            }
          />
          {!reference.measure && (
            <input
              type="number"
              step="any"
              aria-label={say('value')}
              value={reference.value ?? ''}
              onInput={({ currentTarget: { value } }) =>
                change(i, { value: value === '' ? null : Number(value) }, 'value')
              }
            />
          )}
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
