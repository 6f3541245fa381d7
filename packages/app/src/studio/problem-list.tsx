/** What the compiler says of the whole model. A click goes to the place. */
import { goToPlace } from './editor.tsx';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

const SHOWN_MAX = 100;

export function ProblemList({ studio }: { studio: Studio }) {
  const problems = studio.problems.value;
  const cubes = studio.cubes.value;
  const errors = problems.filter(({ isError }) => isError).length;
  const summary = errors
    ? say('errorCount', { count: errors })
    : problems.length
      ? say('warningCount', { count: problems.length })
      : say('noProblems', { count: cubes.length });
  return (
    <section class="studio-problems" aria-label={say('problems')}>
      <p class={errors ? 'bad' : 'soft'} role="status">
        {summary}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, SHOWN_MAX).map((problem, i) => (
            <li key={i}>
              <button
                type="button"
                class="tree-row"
                onClick={() => goToPlace(studio, problem.file, problem.line, problem.column)}
              >
                <span class={problem.isError ? 'bad' : 'warn'}>
                  {say(problem.isError ? 'error' : 'warning')}
                </span>
                <span class="grow">
                  {problem.message} {problem.hint && <span class="soft">{problem.hint}</span>}
                </span>
                <span class="soft">
                  {problem.file}:{problem.line}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
