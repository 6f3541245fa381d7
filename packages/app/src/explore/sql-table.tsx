/** The rows of the answer to SQL, as they came. */
import { useRef } from 'preact/hooks';
import type { SqlAnswer } from './sql-answer.ts';
import { say } from './texts/say.ts';
import { useVirtual } from './virtual.ts';

const ROW = 32;

export function SqlTable({ answer: { columns, rows } }: { answer: SqlAnswer }) {
  const frame = useRef<HTMLDivElement>(null);
  const list = useVirtual(frame, rows.length, ROW, (index) => index);
  const items = list.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = list.getTotalSize() - (items.at(-1)?.end ?? 0);
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
        <tbody>
          <tr aria-hidden="true" class="space">
            <td colSpan={columns.length} style={{ height: `${before}px` }} />
          </tr>
          {items.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2}>
              {rows[index]?.map((value, i) => (
                <td key={i}>{value == null ? '–' : String(value)}</td>
              ))}
            </tr>
          ))}
          <tr aria-hidden="true" class="space">
            <td colSpan={columns.length} style={{ height: `${after}px` }} />
          </tr>
        </tbody>
      </table>
    </div>
  );
}
