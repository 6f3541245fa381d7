/** Asks for the name and the workbook of a new report. */
import { useId, useRef, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { Dialog } from '../parts/dialog.tsx';
import { attempt } from '../parts/toasts.tsx';
import type { Report } from './save.ts';
import { say } from './texts/say.ts';

const NEW = 'new';
const NONE = '';

export function SaveDialog({
  deploymentId,
  name: firstName,
  workbookId,
  content,
  onSaved,
  onClose,
}: {
  deploymentId: number;
  name: string;
  workbookId: number | undefined;
  content: object;
  onSaved(report: Report): void;
  onClose(): void;
}) {
  const [name, setName] = useState(firstName);
  const [place, setPlace] = useState(workbookId ? String(workbookId) : NEW);
  const [workbookName, setWorkbookName] = useState('');
  const [isSaving, setSaving] = useState(false);
  const [nameId, placeId, newId] = [useId(), useId(), useId()];
  const input = useRef<HTMLInputElement>(null);
  const { data: workbooks } = useData(
    `d/${deploymentId}/workbooks/places`,
    async (signal) => (await api.getWorkbooks({ deploymentId, first: 200 }, { signal })).items,
  );

  async function save() {
    if (!name.trim()) return input.current?.focus();
    setSaving(true);
    const saved = await attempt(async () => {
      const at =
        place === NEW
          ? (await api.createWorkbook({ deploymentId, body: { name: workbookName.trim() || name.trim() } }))
              .id
          : place === NONE
            ? undefined
            : Number(place);
      const body = {
        name: name.trim(),
        ...content,
        source: 'PLAYGROUND' as const,
        ...(at ? { workbookId: at } : {}),
      };
      return api.createReport({ deploymentId, body });
    });
    setSaving(false);
    if (!saved) return;
    invalidate(`d/${deploymentId}/`);
    onClose();
    onSaved(saved);
  }

  return (
    <Dialog title={say('saveTitle')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label class="field" for={nameId}>
          <span>{say('name')}</span>
          <input
            ref={input}
            id={nameId}
            autoFocus
            required
            autocomplete="off"
            maxLength={255}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label class="field" for={placeId}>
          <span>{say('workbook')}</span>
          <select id={placeId} value={place} onChange={(event) => setPlace(event.currentTarget.value)}>
            <option value={NEW}>{say('newWorkbook')}</option>
            {workbooks?.map(({ id, name: title }) => (
              <option key={id} value={String(id)}>
                {title}
              </option>
            ))}
            <option value={NONE}>{say('noWorkbook')}</option>
          </select>
        </label>
        {place === NEW && (
          <label class="field" for={newId}>
            <span>{say('newWorkbook')}</span>
            <input
              id={newId}
              autocomplete="off"
              maxLength={255}
              placeholder={name}
              value={workbookName}
              onInput={(event) => setWorkbookName(event.currentTarget.value)}
            />
          </label>
        )}
        <div class="dialog-foot">
          <button type="submit" class="primary" disabled={isSaving}>
            {say('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
