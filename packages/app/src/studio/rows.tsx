/** What a question to the model of a branch gives: its rows, its SQL, and how long it took. */
import { api } from '../data/api.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

export interface Answer {
  rows: readonly Record<string, unknown>[];
  sql: string;
  ms: number;
}

/** The deployed branch answers as everybody gets it. */
const branchOf = ({ branch }: Studio) => (branch.isDefault ? {} : { branchName: branch.name });

export async function ask(studio: Studio, query: Record<string, unknown>): Promise<Answer> {
  const { deploymentId } = studio;
  const body = { query, ...branchOf(studio) };
  const start = performance.now();
  const { data } = (await api.load({ deploymentId, body })) as { data: Record<string, unknown>[] };
  const ms = performance.now() - start;
  return { rows: data, sql: await sqlOf(studio, query), ms };
}

/** The SQL that the model makes of a query; empty for those who may not read it. */
async function sqlOf(studio: Studio, query: Record<string, unknown>): Promise<string> {
  const body = { query, ...branchOf(studio) };
  const reply = await api.querySql({ deploymentId: studio.deploymentId, body }).catch(() => undefined);
  const [first] = [reply].flat();
  return String(first?.sql.sql[0] ?? '');
}

export function Rows({ rows, label }: { rows: Answer['rows']; label: string }) {
  const columns = rows[0] ? Object.keys(rows[0]) : [];
  if (!columns.length) return <p class="soft">{say('noRows')}</p>;
  return (
    <div class="diff-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="items">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {columns.map((column) => (
                <td key={column}>{String(row[column] ?? '')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const GeneratedSql = ({ sql }: { sql: string }) =>
  sql ? (
    <details>
      <summary>{say('generatedSql')}</summary>
      <pre class="studio-log" tabIndex={0}>
        {sql}
      </pre>
    </details>
  ) : null;
