/** Settings of filters and time grains. */
import { OPERATORS_BY_KIND, operatorsOf } from '@oriel/charts';
import { DefaultSettings, type Kind } from './default-settings.tsx';
import type { Editor } from './editor.ts';
import { configIn } from './edits.ts';
import { CheckField, Group, SelectField } from './fields.tsx';
import { say } from './say.ts';
import { TitleField, type WidgetProps } from './settings.tsx';
import { widgetsOf } from './state/doc.ts';

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

/** What viewers call a field. They see the title of its control, and never the model. */
const shortTitleOf = (editor: Editor, member: unknown) =>
  editor.cubes.value.flatMap(({ dimensions }) => dimensions).find(({ name }) => name === member)?.shortTitle;

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
  /** Changes the field. The new one may need another control, and the other settings were about the old one. */
  const setMember = (field: string, value: unknown) =>
    editor.session.change(say('stepEdit', { title: editor.titleOf(widget) }), (doc) => {
      const own = configIn<Record<string, unknown>>(doc, widget.id);
      // A title that the author wrote stays.
      if (!own.title || own.title === shortTitleOf(editor, own[field])) {
        const title = shortTitleOf(editor, value);
        if (title) own.title = title;
        else delete own.title;
      }
      own[field] = value;
      for (const gone of ['default', 'mapping', 'widgets', 'operators']) delete own[gone];
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
        onChange={(chosen) =>
          editor.session.change(say('stepEdit', { title: editor.titleOf(widget) }), (doc) => {
            const own = configIn<Record<string, unknown>>(doc, widget.id);
            own.kind = chosen;
            delete own.operators;
            delete own.default;
          })
        }
      />
      <Operators kind={kind} {...props} />
      {kind === 'select' && (
        <CheckField
          label={say('multiple')}
          checked={config.multiple !== false}
          onChange={(checked) => set('multiple', checked ? undefined : false)}
        />
      )}
      {kind === 'select' && (
        <CheckField
          label={say('faceted')}
          checked={config.faceted === true}
          onChange={(checked) => set('faceted', checked || undefined)}
        />
      )}
      <SelectField
        label={say('forViewers')}
        {...(config.visibility ? { hint: say('visibilityHint') } : {})}
        value={String(config.visibility ?? 'visible')}
        options={(['visible', 'disabled', 'hidden'] as const).map((value) => ({
          value,
          label: say(`visibility.${value}`),
        }))}
        onChange={(chosen) => set('visibility', chosen === 'visible' ? undefined : chosen)}
      />
      <DefaultSettings key={`${kind} ${config.member}`} kind={kind} {...props} />
      <Reach {...props} />
    </>
  );
}

/** The operators that viewers can choose from. With one alone, viewers have no choice. */
function Operators({ editor, kind, config, set }: WidgetProps & { kind: Kind }) {
  const { board } = editor.draft;
  const offered = operatorsOf({ ...config, kind });
  return (
    <Group title={say('operators')}>
      {OPERATORS_BY_KIND[kind]!.map((operator) => (
        <CheckField
          key={operator}
          label={board.say(`op.${operator}` as never)}
          checked={offered.includes(operator)}
          onChange={(checked) => {
            const next = OPERATORS_BY_KIND[kind]!.filter((one) =>
              one === operator ? checked : offered.includes(one),
            );
            const isUsual = next.length === 1 && next[0] === OPERATORS_BY_KIND[kind]![0];
            set('operators', next.length && !isUsual ? next : undefined);
          }}
        />
      ))}
    </Group>
  );
}

const NOT = ' none';

/**
 * Which charts a control reaches, and by which of their fields: by itself those about the same data, and by hand each chart by any
 * field of the same type.
 */
function Reach({ editor, config, widget }: WidgetProps) {
  const charts = widgetsOf(editor.doc).filter(({ type }) => type === 'CHART');
  const type = typeOf(editor, config.member);
  const mapping = (config.mapping ?? {}) as Record<string, string | null>;
  const named =
    Array.isArray(config.widgets) && config.widgets.length ? (config.widgets as string[]) : undefined;
  if (!charts.length || config.member == null) return null;
  const choose = (id: string, chosen: string) =>
    editor.session.change(say('stepEdit', { title: editor.titleOf(widget) }), (doc) => {
      const own = configIn<Record<string, unknown>>(doc, widget.id);
      // A list of charts says no more than which ones are left out.
      const excluded = named ? charts.filter((chart) => !named.includes(chart.id)) : [];
      const next: Record<string, string | null> = Object.fromEntries(
        excluded.map((chart) => [chart.id, null]),
      );
      for (const one of named ?? []) next[one] = String(config.member);
      Object.assign(next, mapping);
      delete next[id];
      if (chosen) next[id] = chosen === NOT ? null : chosen;
      delete own.widgets;
      if (Object.keys(next).length) own.mapping = next;
      else delete own.mapping;
    });
  const isAnyReached = charts.some((chart) => editor.reachedBy(config, chart));
  return (
    <Group title={say('reaches')}>
      {charts.map((chart) => {
        const automatic = editor.reachedBy({ member: config.member }, chart);
        const isLeftOut = named ? !named.includes(chart.id) : mapping[chart.id] === null;
        const value = isLeftOut ? NOT : (mapping[chart.id] ?? '');
        const owners = editor.ownersOf(chart.config?.reportId);
        const fields = editor.dimensions.value.filter((one) => one.type === type && owners.has(one.owner));
        const known = [...new Set(fields.map(({ name }) => name))];
        return (
          <SelectField
            key={chart.id}
            label={editor.titleOf(chart)}
            value={value}
            options={[
              { value: '', label: say(automatic ? 'isReached' : 'notReached') },
              { value: NOT, label: say('leftOut') },
              ...(value && value !== NOT && !known.includes(value) ? [{ value, label: value }] : []),
              ...fields.map(({ name, title }) => ({ value: name, label: title, group: say('byField') })),
            ]}
            onChange={(chosen) => choose(chart.id, chosen)}
          />
        );
      })}
      {!isAnyReached && <p class="soft">{say('unreached')}</p>}
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
