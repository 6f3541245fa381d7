/** A SELECT over the views of the model, and its rows. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { isAbort, type Problem, problemOf } from '../data/problem.ts';
import { openDialog } from '../parts/dialog.tsx';
import { wordsOf } from '../parts/states.tsx';
import { toast } from '../parts/toasts.tsx';
import { SaveDialog } from './save.tsx';
import { say } from './texts/say.ts';
import { useVirtual } from './virtual.ts';

interface SqlAnswer {
  columns: string[];
  rows: unknown[][];
}

/** The answer has lines of JSON: the columns, and rows in pieces. */
export function readLines(text: string): SqlAnswer {
  const columns: string[] = [];
  const rows: unknown[][] = [];
  for (const line of text.split('\n')) {
    if (!line) continue;
    const part = JSON.parse(line) as { schema?: { name: string }[]; data?: unknown[][] };
    for (const { name } of part.schema ?? []) columns.push(name);
    for (const row of part.data ?? []) rows.push(row);
  }
  return { columns, rows };
}

export function SqlPage({
  deploymentId,
  sql,
  onBack,
}: {
  deploymentId: number;
  sql: string;
  onBack(): void;
}) {
  const [text, setText] = useState(sql);
  const [answer, setAnswer] = useState<SqlAnswer>();
  const [problem, setProblem] = useState<Problem>();
  const running = useRef<AbortController | undefined>(undefined);
  const [isRunning, setRunning] = useState(false);

  async function run() {
    running.current?.abort();
    const asking = new AbortController();
    running.current = asking;
    setRunning(true);
    try {
      const reply = await api.runSql({ deploymentId, body: { query: text } }, { signal: asking.signal });
      const read = readLines(await replyText(reply));
      if (running.current !== asking) return;
      setAnswer(read);
      setProblem(undefined);
    } catch (error) {
      if (!isAbort(error)) setProblem(problemOf(error));
    } finally {
      if (running.current === asking) setRunning(false);
    }
  }
  useEffect(() => {
    void run();
    return () => running.current?.abort();
  }, []);

  return (
    <div class="sql-page">
      <header class="page-head">
        <h1>{say('sqlResult')}</h1>
        <button type="button" onClick={onBack}>
          {say('backToFields')}
        </button>
        <button
          type="button"
          onClick={() =>
            openDialog((close) => (
              <SaveDialog
                deploymentId={deploymentId}
                name=""
                workbookId={undefined}
                content={{ sqlQuery: text, jsonQuery: null, meta: {} }}
                onSaved={() => toast(say('saved'))}
                onClose={close}
              />
            ))
          }
        >
          {say('save')}
        </button>
      </header>
      <label class="field">
        <span>{say('sqlLabel')}</span>
        <textarea
          class="code"
          rows={8}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
          }}
        />
      </label>
      <div>
        <button type="button" class="primary" onClick={() => void run()}>
          {say(isRunning ? 'running' : 'run')}
        </button>
      </div>
      {problem && (
        <p class="bad" role="alert">
          {wordsOf(problem)}
        </p>
      )}
      {answer && <SqlTable answer={answer} />}
    </div>
  );
}

async function replyText(reply: unknown): Promise<string> {
  if (reply instanceof Response) return reply.text();
  if (reply instanceof Blob) return reply.text();
  if (reply instanceof ReadableStream) return new Response(reply).text();
  return new TextDecoder().decode(reply as Uint8Array);
}

const ROW = 32;

function SqlTable({ answer: { columns, rows } }: { answer: SqlAnswer }) {
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
            {columns.map((name) => (
              <th key={name} scope="col">
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
                <td key={columns[i]}>{value == null ? '–' : String(value)}</td>
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
