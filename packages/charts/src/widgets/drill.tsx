/** The rows behind a figure, a mark or a cell, in pages. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { csvOf, download } from '../csv.ts';
import { type DrillTarget, detailsOf, FILE_ROWS_MAX, namesOf, orderBy, PAGE_ROWS } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import { typed } from '../query.ts';
import type { Rows } from '../rows.ts';
import { useBoard } from '../shared.ts';
import { columnsOf, type Sort } from '../table.ts';
import type { Problem, Query } from '../types.ts';
import { Failure } from './chart.tsx';
import { Table } from './table.tsx';

const SNAPSHOT = { reportId: 0 };

interface Details extends Rows {
  /** The number of all rows, also of those that are not loaded yet. */
  count: number;
}

export function Drill(props: DrillTarget & { onClose(): void }) {
  const { widgetId, title, member, value, format, annotation, query, onClose } = props;
  const board = useBoard();
  const { say, formats } = board;
  const dialog = useRef<HTMLDialogElement>(null);
  const [details, setDetails] = useState<Details>();
  const [sort, setSort] = useState<Sort>({ member, desc: true });
  const [problem, setProblem] = useState<Problem>();
  const [isEmpty, setEmpty] = useState(false);
  const [note, setNote] = useState('');
  /** The load that is under way: pages are loaded one after the other, and a load with an outdated order is ignored. */
  const asking = useRef<object | undefined>(undefined);

  const named = namesOf(props, formats);
  const heading = `${title}: ${named.length ? named.join(', ') : say('details')}`;
  const shownMeasure = shownOf(annotation, member, formats);

  useEffect(() => {
    dialog.current!.showModal();
    board.tell('drilldown', { member, value: value ?? null, widgetId });
  }, []);
  useEffect(() => void load(undefined), [sort]);

  function askedFor(): Query | undefined {
    const asked = detailsOf(annotation, member, query);
    return asked && { ...asked, order: orderBy(asked.dimensions!, sort) };
  }

  /** The first page, or the one after those that are there. */
  async function load(before: Details | undefined) {
    const turn = {};
    asking.current = turn;
    setProblem(undefined);
    try {
      const asked = before?.query ?? askedFor();
      if (!asked) return setEmpty(true);
      const offset = before?.rows.length ?? 0;
      const [result] = await board.load([
        { ...asked, limit: PAGE_ROWS, offset, ...(before ? {} : { total: true }) },
      ]);
      if (asking.current !== turn) return;
      const rows = [...(before?.rows ?? []), ...typed(result!)];
      // Rows may have gone since they were counted.
      const count =
        result!.data.length < PAGE_ROWS
          ? rows.length
          : Math.max(before?.count ?? result!.total ?? 0, rows.length);
      setDetails({ result: before?.result ?? result!, rows, query: asked, count });
      setEmpty(rows.length === 0);
    } catch (error) {
      if (asking.current === turn) setProblem(error as Problem);
    } finally {
      if (asking.current === turn) asking.current = undefined;
    }
  }

  const more = () => {
    if (details && !asking.current && details.rows.length < details.count) void load(details);
  };

  async function exportCsv({ query: asked, count }: Details) {
    try {
      const [result] = await board.load([{ ...asked, limit: FILE_ROWS_MAX }]);
      const rows = typed(result!);
      download(`${heading}.csv`, csvOf(rows, columnsOf(rows, result!.annotation, asked, SNAPSHOT, formats)));
      board.tell('download', {
        format: 'csv',
        target: 'widget',
        widgetId,
        title: heading,
        rowCount: rows.length,
      });
      if (rows.length < count)
        setNote(say('fileCut', { count: formats.count(rows.length), total: formats.count(count) }));
    } catch (error) {
      setProblem(error as Problem);
    }
  }

  return (
    <dialog
      ref={dialog}
      class="drill-dialog"
      aria-label={heading}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <header class="card-head">
        <h2>{heading}</h2>
        {board.mayExport && details && !isEmpty && (
          <button type="button" onClick={() => exportCsv(details)}>
            {say('csv')}
          </button>
        )}
        <button type="button" onClick={() => dialog.current!.close()}>
          {say('close')}
        </button>
      </header>
      <p class="drill-about">
        <span>{`${shownMeasure?.shortTitle ?? member}: ${formats.value(value, shownMeasure, format)}`}</span>
        {details && !isEmpty && (
          <span role="status">
            {say('rowsOf', {
              count: formats.count(details.rows.length),
              total: formats.count(details.count),
            })}
          </span>
        )}
        {note && <span role="status">{note}</span>}
      </p>
      {problem ? (
        <Failure problem={problem} onRetry={() => void load(details)} />
      ) : isEmpty ? (
        <div class="empty">{say('noDetails')}</div>
      ) : details ? (
        <Table
          widgetId={widgetId}
          title={heading}
          snapshot={SNAPSHOT}
          rows={details}
          more={{ count: details.count, sort, setSort, load: more }}
        />
      ) : (
        <div class="skeleton fill" role="status" />
      )}
    </dialog>
  );
}
