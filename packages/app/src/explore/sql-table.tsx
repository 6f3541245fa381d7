/** The rows of the answer to SQL, as they came. */
import { useCallback, useRef } from 'preact/hooks';
import type { SqlAnswer } from './sql-answer.ts';
import { say } from './texts/say.ts';
import { type RowElement, useRows } from './virtual.ts';

const ROW = 32;

export function SqlTable({ answer: { columns, rows } }: { answer: SqlAnswer }) {
  const frame = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const make = useCallback((): RowElement => {
    const element = document.createElement('tr');
    const cells = columns.map(() => element.insertCell().appendChild(new Text()));
    return {
      element,
      show(index) {
        rows[index]!.forEach((value, i) => {
          cells[i]!.data = value == null ? '–' : String(value);
        });
      },
    };
  }, [columns, rows]);
  useRows(frame, body, { count: rows.length, height: ROW, make });
  return (
    <div class="result-table" ref={frame} tabIndex={0} role="region" aria-label={say('results')}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map(({ name }, i) => (
              <th key={i} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} />
      </table>
    </div>
  );
}
