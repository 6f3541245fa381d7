/** Vega-Lite by hand. What is drawn beside it is what the server makes of it, under the same checks as when it is published. */
import { useEffect, useState } from 'preact/hooks';
import { CodeEditor } from '../parts/code-editor.tsx';
import type { CodeProblem } from '../parts/code-mirror.ts';
import { wordsOf } from '../parts/states.tsx';
import type { Answer, Exploration } from './exploration.ts';
import { say } from './texts/say.ts';

const WAIT_MS = 500;

/** Where JSON is wrong. Browsers say it in different words. */
export function problemInJson(text: string): CodeProblem | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isObject ? undefined : { message: say('vegaObject') };
  } catch (error) {
    const message = (error as Error).message;
    const position = /position (\d+)/.exec(message)?.[1];
    const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
    const lines = text.split('\n');
    const from = position
      ? Number(position)
      : line
        ? lines.slice(0, Number(line) - 1).join('\n').length + Number(column)
        : /end of/i.test(message)
          ? Math.max(0, text.trimEnd().length - 1)
          : undefined;
    if (from === undefined) return { message };
    const before = text.slice(0, from).split('\n');
    const place = say('lineAndColumn', { line: before.length, column: before.at(-1)!.length + 1 });
    return { message: `${place}: ${message.replace(/ (in JSON )?at position.*$/, '')}`, from, to: from + 1 };
  }
}

/** The Vega-Lite of what is drawn, to go on from there. */
const sourceOf = ({ snapshot }: Answer): object =>
  (snapshot as { source?: object | null }).source ?? { mark: 'bar', encoding: {} };

export default function VegaEditor({ exploration, answer }: { exploration: Exploration; answer: Answer }) {
  const given = exploration.question.value.vegaLite;
  const [text, setText] = useState(() => JSON.stringify(given ?? sourceOf(answer), null, 2));
  const wrong = problemInJson(text);
  const refused = exploration.problem.value;
  const problem =
    wrong ?? (refused ? { message: refused.issues[0]?.message ?? wordsOf(refused) } : undefined);

  useEffect(() => {
    if (wrong || text === JSON.stringify(exploration.question.peek().vegaLite ?? null, null, 2)) return;
    const timer = setTimeout(
      () =>
        exploration.change(
          say('vegaByHand'),
          (before) => ({ ...before, vegaLite: JSON.parse(text) }),
          'vega-lite',
        ),
      WAIT_MS,
    );
    return () => clearTimeout(timer);
  }, [text]);

  return (
    <div class="vega-editor field">
      <CodeEditor
        language="json"
        label={say('vegaByHand')}
        value={text}
        problem={problem}
        onInput={setText}
      />
      <p class={problem ? 'bad' : 'soft'} role="status">
        {problem?.message ?? ''}
      </p>
      <p class="soft note">
        {say('vegaHint')} {exploration.answer.value ? fieldsOf(exploration.answer.value).join(', ') : ''}
      </p>
    </div>
  );
}

/** The names that a specification uses for columns. */
const fieldsOf = ({ rows }: Answer) =>
  Object.keys(rows.rows[0] ?? {}).map((key) => key.replaceAll('.', '__'));
