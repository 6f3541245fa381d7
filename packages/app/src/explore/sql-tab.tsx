/** What is asked as SQL over the model, as the SQL of the data source for those who may see it, and as JSON. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { isAbort, type Problem, problemOf } from '../data/problem.ts';
import { wordsOf } from '../parts/states.tsx';
import type { Exploration } from './exploration.ts';
import { toQuery } from './question.ts';
import { useSqlShown } from './rights.ts';
import { semanticSql } from './semantic-sql.ts';
import { say } from './texts/say.ts';

export function SqlTab({ exploration, onSql }: { exploration: Exploration; onSql(sql: string): void }) {
  const query = toQuery(exploration.question.value);
  const shown = useSqlShown(exploration.deploymentId);
  const { members } = exploration.model;
  const semantic = shown.isSemantic ? semanticSql(query, (member) => members.get(member)) : undefined;
  return (
    <div class="sql-tab">
      {shown.isSemantic && (
        <section>
          <h2>{say('semanticSql')}</h2>
          {semantic === undefined ? (
            <p class="soft">{say('noSemanticSql')}</p>
          ) : (
            <>
              <pre class="code" tabIndex={0}>
                {semantic}
              </pre>
              <button type="button" onClick={() => onSql(semantic)}>
                {say('continueInSql')}
              </button>
            </>
          )}
        </section>
      )}
      {shown.isGenerated && <Generated exploration={exploration} text={JSON.stringify(query)} />}
      {shown.isSemantic && (
        <section>
          <h2>{say('jsonQuery')}</h2>
          <pre class="code" tabIndex={0}>
            {JSON.stringify(query, null, 2)}
          </pre>
        </section>
      )}
    </div>
  );
}

function Generated({ exploration, text }: { exploration: Exploration; text: string }) {
  const [sql, setSql] = useState<{ text: string; values: unknown[] }>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const asking = new AbortController();
    const body = { query: JSON.parse(text) };
    api
      .querySql({ deploymentId: exploration.deploymentId, body: body as never }, { signal: asking.signal })
      .then(
        (reply) => {
          const { sql: found } = reply as unknown as { sql: { sql: [string, unknown[]] } };
          setSql({ text: found.sql[0], values: found.sql[1] });
          setProblem(undefined);
        },
        (error) => {
          if (isAbort(error)) return;
          setSql(undefined);
          setProblem(problemOf(error));
        },
      );
    return () => asking.abort();
  }, [text]);
  return (
    <section>
      <h2>{say('engineSql')}</h2>
      {sql && (
        <>
          <pre class="code" tabIndex={0}>
            {sql.text}
          </pre>
          {sql.values.length > 0 && (
            <p class="soft">{sql.values.map((value, i) => `$${i + 1} = ${value}`).join(', ')}</p>
          )}
        </>
      )}
      {problem && <p class="soft">{wordsOf(problem)}</p>}
    </section>
  );
}
