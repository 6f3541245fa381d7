/** The settings of what is selected: a widget, or the dashboard itself. */
import { isPicture, PICTURE_MAX, PICTURE_PIXELS_MAX } from '@oriel/charts';
import { useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { align, copy, duplicate, moveTo, remove, resizeTo } from './actions.ts';
import { ApplicationSettings } from './application-settings.tsx';
import { ContainerSettings } from './container-settings.tsx';
import { ControlSettings, GrainSettings } from './control-settings.tsx';
import { type Editor, kindText } from './editor.ts';
import { forgetDevice, isArranged, itemsOf, siblingsOf } from './edits.ts';
import { CheckField, Group, NumberField, SelectField, TextField } from './fields.tsx';
import { COLUMNS, HEIGHT_MAX } from './grid/grid.ts';
import { say } from './say.ts';
import { TitleField, type WidgetProps } from './settings.tsx';
import { setIn } from './state/changes.ts';
import type { Widget } from './state/doc.ts';
import { ThemeSettings } from './theme-settings.tsx';

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
          <GroupSettings editor={editor} ids={ids} />
        ) : (
          <DashboardSettings editor={editor} />
        )}
      </fieldset>
    </aside>
  );
}

const ALIGNMENTS = ['left', 'right', 'width', 'height'] as const;

/** What can be done to several widgets at once. */
const GroupSettings = ({ editor, ids }: { editor: Editor; ids: readonly string[] }) => (
  <>
    <div class="button-list">
      {ALIGNMENTS.map((how) => (
        <button key={how} type="button" onClick={() => align(editor, ids, how)}>
          {say(`align.${how}`)}
        </button>
      ))}
      <button type="button" onClick={() => duplicate(editor, ids)}>
        {say('duplicate')}
      </button>
      <button
        type="button"
        onClick={() =>
          void copy(editor, ids).then(
            () => toast(say('copiedNote')),
            () => {},
          )
        }
      >
        {say('copy')}
      </button>
    </div>
    <button type="button" class="bad" onClick={() => remove(editor, ids)}>
      {say('remove')}
    </button>
  </>
);

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
      {widget.type === 'TEXT' && config.image !== undefined && <PictureSettings {...props} />}
      {widget.type === 'TEXT' && config.image === undefined && (
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
      {widget.type === 'APP' && <ApplicationSettings {...props} />}
      <PlaceSettings editor={editor} widget={widget} />
      <button type="button" class="bad" onClick={() => remove(editor, [widget.id])}>
        {say('remove')}
      </button>
    </>
  );
}

/** The picture becomes a part of the dashboard: pages load nothing from elsewhere. */
function PictureSettings({ config, set }: WidgetProps) {
  const [isRefused, setRefused] = useState(false);
  const take = (file: File | undefined) => {
    if (!file) return;
    const reader = new FileReader();
    reader.onload = () => {
      setRefused(!isPicture(reader.result));
      if (isPicture(reader.result)) set('image', reader.result);
    };
    reader.readAsDataURL(file);
  };
  return (
    <>
      <label class="field">
        <span>{say('picture')}</span>
        <input
          type="file"
          accept="image/png,image/jpeg,image/gif,image/webp"
          onChange={(event) => take(event.currentTarget.files?.[0])}
        />
      </label>
      {isRefused && (
        <p role="alert">
          {say('pictureRefused', {
            size: Math.round((PICTURE_MAX * 3) / 4000),
            pixels: PICTURE_PIXELS_MAX / 1_000_000,
          })}
        </p>
      )}
      <TextField
        label={say('alt')}
        hint={say('altHint')}
        value={String(config.alt ?? '')}
        onChange={(alt) => set('alt', alt || undefined)}
      />
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

/** Widgets that were arranged for a device can follow those of the desk again. */
function DeviceSettings({ editor }: { editor: Editor }) {
  const device = editor.device.value;
  if (device === 'desk') return null;
  return (
    <Group title={say(`device.${device}`)}>
      {isArranged(Object.values(editor.doc.widgets), device) ? (
        <button
          type="button"
          onClick={() => editor.session.change(say('stepDashboard'), (doc) => forgetDevice(doc, device))}
        >
          {say('followDesk')}
        </button>
      ) : (
        <p class="soft">{say('followsDesk')}</p>
      )}
    </Group>
  );
}

function PlaceSettings({ editor, widget: { id } }: { editor: Editor; widget: Widget }) {
  const siblings = siblingsOf(editor.doc, id);
  const { x, y, w, h } = itemsOf(siblings, editor.device.value).find((item) => item.id === id)!;
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
  const settings = (doc.settings ?? {}) as {
    timezone?: string;
    refreshSeconds?: number;
    restrictDataDownload?: boolean;
  };
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
          // Not every browser lists UTC.
          ...[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), settings.timezone ?? 'UTC'])].map(
            (zone) => ({
              value: zone,
              label: zone.replaceAll('_', ' '),
            }),
          ),
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
      <ThemeSettings editor={editor} />
      <DeviceSettings editor={editor} />
    </>
  );
}
