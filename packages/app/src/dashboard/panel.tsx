/** The settings of what is selected: a widget, or the dashboard itself. */
import { Icon } from '../parts/icons.tsx';
import { addressOf } from '../place.ts';
import { moveTo, remove, resizeTo } from './actions.ts';
import { ContainerSettings } from './container-settings.tsx';
import { ControlSettings, GrainSettings } from './control-settings.tsx';
import { type Editor, kindText } from './editor.ts';
import { CheckField, ColorField, Group, NumberField, SelectField, TextField } from './fields.tsx';
import { COLUMNS, HEIGHT_MAX } from './grid/grid.ts';
import { say } from './say.ts';
import { TitleField, type WidgetProps } from './settings.tsx';
import { setIn } from './state/changes.ts';
import type { Widget } from './state/doc.ts';

export function Panel({ editor }: { editor: Editor }) {
  const ids = editor.selected.value.filter((id) => editor.widget(id));
  const widget = ids.length === 1 ? editor.widget(ids[0]!)! : undefined;
  const title = widget
    ? say('widgetSettings', { kind: kindText(widget.type) })
    : ids.length > 1
      ? say('selectedCount', { count: ids.length })
      : say('dashboardSettings');
  return (
    <aside id="widget-panel" class="settings-panel" tabIndex={-1} aria-label={title}>
      <header class="settings-head">
        <h2>{title}</h2>
        <button
          type="button"
          class="icon"
          aria-label={say('settings')}
          aria-expanded="true"
          onClick={() => {
            editor.isPanelOpen.value = false;
          }}
        >
          <Icon name="close" size={16} />
        </button>
      </header>
      <fieldset class="settings-body" disabled={!editor.canEdit}>
        {widget ? (
          <WidgetSettings key={widget.id} editor={editor} widget={widget} />
        ) : ids.length > 1 ? (
          <button type="button" onClick={() => remove(editor, ids)}>
            {say('remove')}
          </button>
        ) : (
          <DashboardSettings editor={editor} />
        )}
      </fieldset>
    </aside>
  );
}

function WidgetSettings({ editor, widget }: { editor: Editor; widget: Widget }) {
  const config = (widget.config ?? {}) as Record<string, unknown>;
  const set = (field: string, value: unknown) =>
    editor.session.change(
      say('stepEdit', { title: editor.titleOf(widget) }),
      (doc) => setIn(doc, ['widgets', widget.id, 'config', field], value),
      `${widget.id} ${field}`,
    );
  const props = { editor, widget, config, set };
  return (
    <>
      {widget.type === 'CHART' && <ChartSettings {...props} />}
      {widget.type === 'TEXT' && (
        <TextField
          label={say('markdown')}
          rows={10}
          maxLength={100_000}
          value={String(config.markdown ?? '')}
          onChange={(markdown) => set('markdown', markdown)}
        />
      )}
      {widget.type === 'FILTER' && <ControlSettings {...props} />}
      {widget.type === 'TIME_GRAIN' && <GrainSettings {...props} />}
      {widget.type === 'CONTAINER' && <ContainerSettings {...props} />}
      <PlaceSettings editor={editor} widget={widget} />
      <button type="button" class="bad" onClick={() => remove(editor, [widget.id])}>
        {say('remove')}
      </button>
    </>
  );
}

function ChartSettings({ editor, config, set, widget }: WidgetProps) {
  const report = editor.report(config.reportId);
  const reports = editor.reports.value ?? [];
  const { deploymentId, workbookId } = editor.where;
  return (
    <>
      <TitleField
        config={config}
        set={set}
        placeholder={report?.title || report?.name}
        hint={say('titleHint')}
      />
      <SelectField
        label={say('report')}
        value={String(config.reportId ?? '')}
        options={[
          ...(report
            ? []
            : [
                {
                  value: String(config.reportId ?? ''),
                  label: config.reportId
                    ? editor.titleOf({ ...widget, config: { reportId: config.reportId } })
                    : say('none'),
                },
              ]),
          ...reports.map(({ id, title, name }) => ({ value: String(id), label: title || name })),
        ]}
        onChange={(id) => set('reportId', Number(id) || undefined)}
      />
      <CheckField
        label={say('crossFilter')}
        note={say('crossFilterHint')}
        checked={config.crossFilter === true}
        onChange={(checked) => set('crossFilter', checked || undefined)}
      />
      {report && (
        <a href={addressOf(deploymentId, 'reportInWorkbook', { workbookId, reportId: report.id })}>
          {say('openReport')}
        </a>
      )}
    </>
  );
}

function PlaceSettings({ editor, widget: { id, position } }: { editor: Editor; widget: Widget }) {
  const { x, y, w, h } = position;
  return (
    <Group title={say('placeAndSize')}>
      <div class="pairs">
        <NumberField
          label={say('column')}
          value={x + 1}
          min={1}
          max={COLUMNS - w + 1}
          onChange={(value) => moveTo(editor, id, { x: value - 1, y })}
        />
        <NumberField
          label={say('row')}
          value={y + 1}
          min={1}
          max={10_000}
          onChange={(value) => moveTo(editor, id, { x, y: value - 1 })}
        />
        <NumberField
          label={say('width')}
          value={w}
          min={1}
          max={COLUMNS - x}
          onChange={(value) => resizeTo(editor, id, { w: value, h })}
        />
        <NumberField
          label={say('height')}
          value={h}
          min={1}
          max={HEIGHT_MAX}
          onChange={(value) => resizeTo(editor, id, { w, h: value })}
        />
      </div>
    </Group>
  );
}

const REFRESH = [30, 60, 300, 900, 3600];

function DashboardSettings({ editor }: { editor: Editor }) {
  const { doc } = editor;
  const { tokens } = editor.draft.board;
  const settings = (doc.settings ?? {}) as {
    timezone?: string;
    refreshSeconds?: number;
    restrictDataDownload?: boolean;
  };
  const theme = (doc.theme ?? {}) as { primaryColor?: string; backgroundColor?: string };
  const set = (path: string[], value: unknown) =>
    editor.session.change(say('stepDashboard'), (draft) => setIn(draft, path, value), path.join());
  const every = (count: number) =>
    count < 60 ? say('seconds', { count }) : say('minutes', { count: count / 60 });
  return (
    <>
      <TextField
        label={say('title')}
        value={doc.title ?? ''}
        onChange={(title) => set(['title'], title || undefined)}
      />
      <TextField
        label={say('description')}
        rows={3}
        maxLength={10_000}
        value={doc.description ?? ''}
        onChange={(description) => set(['description'], description || undefined)}
      />
      <SelectField
        label={say('timezone')}
        hint={say('timezoneHint')}
        value={settings.timezone ?? ''}
        options={[
          { value: '', label: '–' },
          ...Intl.supportedValuesOf('timeZone').map((zone) => ({
            value: zone,
            label: zone.replaceAll('_', ' '),
          })),
        ]}
        onChange={(zone) => set(['settings', 'timezone'], zone || undefined)}
      />
      <SelectField
        label={say('refresh')}
        value={String(settings.refreshSeconds ?? '')}
        options={[
          { value: '', label: say('never') },
          ...[...new Set([...REFRESH, ...(settings.refreshSeconds ? [settings.refreshSeconds] : [])])]
            .sort((a, b) => a - b)
            .map((count) => ({ value: String(count), label: every(count) })),
        ]}
        onChange={(count) => set(['settings', 'refreshSeconds'], Number(count) || undefined)}
      />
      <CheckField
        label={say('noDownload')}
        checked={settings.restrictDataDownload === true}
        onChange={(checked) => set(['settings', 'restrictDataDownload'], checked || undefined)}
      />
      <ColorField
        label={say('accentColor')}
        usual={say('usualColor')}
        shown={tokens.accent}
        value={theme.primaryColor ?? undefined}
        onChange={(color) => set(['theme', 'primaryColor'], color)}
      />
      <ColorField
        label={say('backgroundColor')}
        usual={say('usualColor')}
        shown={tokens.background}
        value={theme.backgroundColor ?? undefined}
        onChange={(color) => set(['theme', 'backgroundColor'], color)}
      />
    </>
  );
}
