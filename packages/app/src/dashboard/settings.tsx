/** What the settings of all kinds of widgets share. */
import type { Editor } from './editor.ts';
import { TextField } from './fields.tsx';
import { say } from './say.ts';
import type { Widget } from './state/doc.ts';

export interface WidgetProps {
  editor: Editor;
  widget: Widget;
  config: Record<string, unknown>;
  /** Sets a field of the config; undefined removes it. */
  set(field: string, value: unknown): void;
}

export const TitleField = ({
  config,
  set,
  placeholder,
  hint,
}: Pick<WidgetProps, 'config' | 'set'> & { placeholder?: string | undefined; hint?: string }) => (
  <TextField
    label={say('title')}
    value={String(config.title ?? '')}
    placeholder={placeholder}
    {...(hint ? { hint } : {})}
    onChange={(title) => set('title', title || undefined)}
  />
);
