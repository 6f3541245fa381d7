/** A text field for code, which underlines what is wrong at its place. */
import type { ComponentProps, RefObject } from 'preact';
import { useRef } from 'preact/hooks';

export interface TextProblem {
  message: string;
  /** Characters of the text; undefined for the text as a whole. */
  from?: number;
  to?: number;
}

export function MarkedText({
  value,
  problem,
  input,
  ...rest
}: ComponentProps<'textarea'> & {
  value: string;
  problem: TextProblem | undefined;
  input?: RefObject<HTMLTextAreaElement | null>;
}) {
  const marks = useRef<HTMLPreElement>(null);
  const isMarked = problem?.from !== undefined;
  const begin = Math.min(problem?.from ?? 0, value.length);
  const end = Math.min(problem?.to ?? 0, value.length);
  return (
    <div class="marked-text">
      <pre ref={marks} aria-hidden="true" class="code">
        {isMarked ? (
          <>
            {value.slice(0, begin)}
            <mark>{value.slice(begin, end) || ' '}</mark>
            {value.slice(end)}
          </>
        ) : (
          value
        )}
        {'\n'}
      </pre>
      <textarea
        {...rest}
        {...(input ? { ref: input } : {})}
        class="code"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={value}
        aria-invalid={problem !== undefined}
        onScroll={(event) => {
          if (marks.current) marks.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
