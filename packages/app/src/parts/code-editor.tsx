/** A field for SQL or JSON. It is an ordinary text field until its editor has been loaded. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CodeField, CodeLanguage, CodeProblem } from './code-mirror.ts';

export function CodeEditor({
  language,
  label,
  value,
  problem,
  onInput,
  onRun = () => {},
}: {
  language: CodeLanguage;
  label: string;
  value: string;
  problem?: CodeProblem | undefined;
  onInput(text: string): void;
  onRun?(): void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<CodeField | undefined>(undefined);
  const [isReady, setReady] = useState(false);
  const current = useRef({ value, onInput, onRun });
  current.current = { value, onInput, onRun };
  useEffect(() => {
    let isOver = false;
    void import('./code-mirror.ts').then(
      ({ createCodeField }) => {
        if (isOver) return;
        const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
        field.current = createCodeField({
          root,
          language,
          label,
          text: current.current.value,
          onInput: (text) => current.current.onInput(text),
          onRun: () => current.current.onRun(),
        });
        setReady(true);
      },
      // The text field does as well.
      () => {},
    );
    return () => {
      isOver = true;
      field.current?.stop();
      field.current = undefined;
    };
  }, []);
  useEffect(() => field.current?.set(value), [value, isReady]);
  useEffect(() => field.current?.show(problem), [problem?.message, problem?.from, problem?.to, isReady]);
  return (
    <div class="code-editor">
      <div ref={host} class="code-host" hidden={!isReady} />
      {!isReady && (
        <textarea
          class="code"
          aria-label={label}
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
