/** Questions to the model of this branch, with what is saved on it: members are chosen, and rows, SQL and time are shown. */
import { useState } from 'preact/hooks';
import { type Problem, problemOf } from '../data/problem.ts';
import { wordsOf } from '../parts/states.tsx';
import { locale } from '../texts/index.ts';
import type { KnownMember } from './messages.ts';
import type { StudioProps } from './props.ts';
import { type Answer, ask, GeneratedSql, Rows } from './rows.tsx';
import { say } from './say.ts';

/** How many members are listed; a search finds the others. */
const LISTED_MAX = 300;
const ROWS = 100;

export function Playground({ studio }: StudioProps) {
  const [search, setSearch] = useState('');
  const [chosen, choose] = useState<ReadonlyMap<string, KnownMember['kind']>>(new Map());
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const words = search.toLowerCase().split(/\s+/);
  const all = studio.cubes.value.flatMap((cube) =>
    cube.members
      .filter(({ isPublic }) => isPublic)
      .map((member) => ({ ...member, id: `${cube.name}.${member.name}` })),
  );
  const found = all.filter(({ id, title }) =>
    words.every((word) => `${id} ${title ?? ''}`.toLowerCase().includes(word)),
  );
  const known = new Set(all.map(({ id }) => id));
  const ids = (kind: KnownMember['kind']) =>
    [...chosen].filter(([id, of]) => of === kind && known.has(id)).map(([id]) => id);
  const toggle = (id: string, kind: KnownMember['kind']) => {
    const next = new Map(chosen);
    if (!next.delete(id)) next.set(id, kind);
    choose(next);
  };
  const run = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      // The branch is asked as it is saved.
      await studio.save();
      const query = {
        measures: ids('measure'),
        dimensions: ids('dimension'),
        segments: ids('segment'),
        limit: ROWS,
      };
      setAnswer(await ask(studio, query));
    } catch (error) {
      setAnswer(undefined);
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="playground" onSubmit={(event) => void run(event)}>
      <section class="playground-members" aria-label={say('members')}>
        <input
          type="search"
          aria-label={say('findMember')}
          placeholder={say('findMember')}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <ul>
          {found.slice(0, LISTED_MAX).map(({ id, kind }) => (
            <li key={id}>
              <label class="check">
                <input type="checkbox" checked={chosen.has(id)} onChange={() => toggle(id, kind)} />
                <span class="grow">
                  <code>{id}</code> <span class="soft">{kind}</span>
                </span>
              </label>
            </li>
          ))}
        </ul>
        {found.length > LISTED_MAX && <p class="soft">{say('notAll')}</p>}
      </section>
      <section class="playground-answer" aria-label={say('playground')}>
        <p class="buttons">
          <button
            type="submit"
            class="primary"
            disabled={isBusy || ids('measure').length + ids('dimension').length === 0}
          >
            {say(studio.dirty.value.size ? 'saveAndRun' : 'runQuery')}
          </button>
          <button type="button" disabled={!chosen.size} onClick={() => choose(new Map())}>
            {say('clearChosen')}
          </button>
        </p>
        <p class="soft">{say(studio.branch.isDefault ? 'playgroundLive' : 'playgroundHint')}</p>
        {problem && (
          <p class="bad" role="alert">
            {wordsOf(problem)}
          </p>
        )}
        {answer && (
          <>
            <p role="status">
              {say('answered', {
                count: answer.rows.length,
                ms: Math.round(answer.ms).toLocaleString(locale.value),
              })}
            </p>
            <GeneratedSql sql={answer.sql} />
            <Rows rows={answer.rows} label={say('rows')} />
          </>
        )}
      </section>
    </form>
  );
}
