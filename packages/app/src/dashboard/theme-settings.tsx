/** Colours, fonts and borders of the dashboard. What is chosen shows at once. */
import type { Editor } from './editor.ts';
import { ColorField, Group, NumberField, SelectField } from './fields.tsx';
import { say } from './say.ts';
import { type Path, setIn } from './state/changes.ts';
import { valueAt } from './state/merge.ts';

/** Fonts that devices have. Others can be set by the API. */
const FONTS = [
  'Arial',
  'Georgia',
  'Helvetica Neue',
  'Inter',
  'Roboto',
  'Segoe UI',
  'Times New Roman',
  'Verdana',
];

export function ThemeSettings({ editor }: { editor: Editor }) {
  const { tokens } = editor.draft.board;
  const get = (...path: string[]) => valueAt(editor.doc, ['theme', ...path]) as string | null | undefined;
  const set = (path: Path, value: unknown) =>
    editor.session.change(
      say('stepDashboard'),
      (draft) => setIn(draft, ['theme', ...path], value),
      `theme ${path.join()}`,
    );
  const color = (key: Parameters<typeof say>[0], shown: string, ...path: string[]) => (
    <ColorField
      label={say(key)}
      usual={say('usualColor')}
      shown={shown}
      value={get(...path) ?? undefined}
      onChange={(value) => set(path, value)}
    />
  );
  const font = get('fontFamily') ?? '';
  return (
    <Group title={say('theme')}>
      {color('accentColor', tokens.accent, 'primaryColor')}
      {color('backgroundColor', tokens.background, 'backgroundColor')}
      {color('cardColor', tokens.surface, 'widgets', 'backgroundColor')}
      {color('controlColor', tokens.control, 'controls', 'backgroundColor')}
      {color('borderColor', tokens.border, 'widgets', 'border', 'color')}
      <SelectField
        label={say('borderWidth')}
        value={get('widgets', 'border', 'width') ?? ''}
        options={[
          { value: '', label: say('usualColor') },
          { value: '0', label: say('none') },
          ...['2', '3', '4'].map((width) => ({ value: width, label: `${width} px` })),
        ]}
        onChange={(width) => set(['widgets', 'border', 'width'], width || undefined)}
      />
      <NumberField
        label={say('corners')}
        value={tokens.radius}
        min={0}
        max={32}
        onChange={(radius) => set(['widgets', 'border', 'radius'], String(radius))}
      />
      <SelectField
        label={say('font')}
        value={font}
        options={[
          { value: '', label: say('usualColor') },
          ...[...new Set([...(font ? [font] : []), ...FONTS])].map((name) => ({ value: name, label: name })),
        ]}
        onChange={(name) => set(['fontFamily'], name || undefined)}
      />
    </Group>
  );
}
