/** A query that a person pastes: JSON, or SQL over the views of the model. */
import { useId, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { fromQuery, isAsked, type Question } from './question.ts';
import { say } from './texts/say.ts';

/** A question, a statement, or undefined for what is neither. */
export function readPasted(text: string): { question: Question } | { sql: string } | undefined {
  const trimmed = text.trim().replace(/;$/, '');
  if (/^(select|with)\s/i.test(trimmed)) return { sql: trimmed };
  try {
    const parsed: unknown = JSON.parse(trimmed);
    // The body of a request, or a report's query in its text.
    const query =
      typeof parsed === 'string' ? JSON.parse(parsed) : ((parsed as { query?: object }).query ?? parsed);
    const question = fromQuery(query);
    return isAsked(question) ? { question } : undefined;
  } catch {
    return undefined;
  }
}

export function PasteDialog({
  onQuestion,
  onSql,
  onClose,
}: {
  onQuestion(question: Question): void;
  onSql(sql: string): void;
  onClose(): void;
}) {
  const [text, setText] = useState('');
  const [isWrong, setWrong] = useState(false);
  const id = useId();
  const use = () => {
    const read = readPasted(text);
    setWrong(read === undefined);
    if (!read) return;
    onClose();
    if ('sql' in read) onSql(read.sql);
    else onQuestion(read.question);
  };
  return (
    <Dialog title={say('paste')} onClose={onClose} size="wide">
      <label class="field" for={id}>
        <span>{say('pasteHint')}</span>
        <textarea
          id={id}
          class="code"
          rows={12}
          spellcheck={false}
          value={text}
          aria-invalid={isWrong}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {isWrong && (
        <p class="bad" role="alert">
          {say('pasteWrong')}
        </p>
      )}
      <div class="dialog-foot">
        <button type="button" class="primary" onClick={use}>
          {say('pasteRun')}
        </button>
      </div>
    </Dialog>
  );
}
