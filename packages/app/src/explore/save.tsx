/** Stores a question as a report. */
import type { Visualization } from '@oriel/visualization';
import { useId, useRef, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { Dialog } from '../parts/dialog.tsx';
import { attempt } from '../parts/toasts.tsx';
import { fromQuery, type Question, toQuery, valueKeys } from './question.ts';
import { say } from './texts/say.ts';

export type Report = Awaited<ReturnType<typeof api.getReport>>;

/** What is stored of a question, or of SQL. */
export function contentOf(question: Question, visualization: Visualization | undefined) {
  const pivot = visualization?.type === 'pivot' ? visualization.fields : undefined;
  return {
    jsonQuery: JSON.stringify(toQuery(question)),
    sqlQuery: null,
    meta: question.vegaLite
      ? { chart: { kind: 'vega', spec: question.vegaLite }, visualization: undefined }
      : visualization
        ? { visualization, chart: undefined }
        : {},
    pivotItems: pivot
      ? { rows: pivot.rows ?? [], columns: pivot.columns ?? [], measures: valueKeys(question), filters: [] }
      : null,
  };
}

/** A stored report as a question; undefined if it has none. */
export function questionOf({ jsonQuery, meta }: Pick<Report, 'jsonQuery' | 'meta'>): Question | undefined {
  if (!jsonQuery) return undefined;
  try {
    const question = fromQuery(JSON.parse(jsonQuery));
    const { visualization: stored, chart } = (meta ?? {}) as {
      visualization?: Visualization;
      chart?: { kind?: string; spec?: Record<string, unknown> };
    };
    if (!stored?.type) return chart?.kind === 'vega' ? { ...question, vegaLite: chart.spec } : question;
    const { periodComparisons, comparison, ...visualization } = stored;
    const offset = periodComparisons?.[0]?.offset ?? comparison?.offset;
    const compare = offset && { amount: offset.amount, unit: offset.unit.replace(/s$/, '') as 'year' };
    return { ...question, visualization, compare };
  } catch {
    return undefined;
  }
}

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
