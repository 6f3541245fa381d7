/** The rows behind a figure, a mark or a cell. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Drilled, detailsOf } from '../drill-query.ts';
import { typed } from '../query.ts';
import { usePage } from '../shared.ts';
import type { Problem } from '../types.ts';
import { Failure } from './chart.tsx';
import type { Rows } from './rows.ts';
import { Table } from './table.tsx';

export function Drill({ widgetId, title, member, value, query, onClose }: Drilled & { onClose(): void }) {
  const page = usePage();
  const { say } = page;
  const dialog = useRef<HTMLDialogElement>(null);
  const [rows, setRows] = useState<Rows>();
  const [problem, setProblem] = useState<Problem>();
  const [isEmpty, setEmpty] = useState(false);

  useEffect(() => {
    dialog.current!.showModal();
    page.host.send('drilldown', { member, value: value ?? null, widgetId });
    void load();
  }, []);

  const load = () => read().catch(setProblem);

  async function read() {
    setProblem(undefined);
    const cubes = await page.meta();
    const measure = cubes.flatMap(({ measures }) => measures).find(({ name }) => name === member);
    const asked = detailsOf(cubes, member, measure?.drillMembers ?? [], query);
    if (!asked) return setEmpty(true);
    const [result] = await page.load([asked]);
    if (result!.data.length === 0) return setEmpty(true);
    setRows({ result: result!, rows: typed(result!), query: asked });
  }

  return (
    <dialog
      ref={dialog}
      class="drill-dialog"
      aria-label={`${title}: ${say('details')}`}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <header class="card-head">
        <h2>{`${title}: ${say('details')}`}</h2>
        <button type="button" onClick={() => dialog.current!.close()}>
          {say('close')}
        </button>
      </header>
      {problem ? (
        <Failure problem={problem} onRetry={load} />
      ) : isEmpty ? (
        <div class="empty">{say('noDetails')}</div>
      ) : rows ? (
        <Table widgetId={widgetId} title={title} snapshot={{ reportId: 0 }} rows={rows} />
      ) : (
        <div class="skeleton fill" role="status" />
      )}
    </dialog>
  );
}
