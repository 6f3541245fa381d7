/** A text field for expressions: it proposes members and functions, and marks what is wrong at its place. */
import { useId, useRef, useState } from 'preact/hooks';
import type { Calculated } from './calculated.ts';
import { MarkedText, type TextProblem } from './marked-text.tsx';
import type { Member } from './members.ts';
import { say } from './texts/say.ts';

const FUNCTIONS = [
  'if(',
  'coalesce(',
  'nullif(',
  'round(',
  'abs(',
  'floor(',
  'ceil(',
  'sum(',
  'avg(',
  'min(',
  'max(',
  'count_distinct(',
];
const AGGREGATE = /\b(sum|avg|min|max|count_distinct)\(\s*$/i;
const SHOWN = 8;

interface Proposal {
  /** What is put in. */
  text: string;
  title: string;
}

/** The word before the cursor, and what may stand in its place. */
export function proposalsAt(
  text: string,
  cursor: number,
  members: readonly Member[],
  fields: readonly Pick<Calculated, 'name' | 'title'>[],
  keys: readonly string[],
): { from: number; proposals: Proposal[] } {
  const start = text.slice(0, cursor);
  const isInText = (start.replaceAll("''", '').match(/'/g)?.length ?? 0) % 2 === 1;
  const word = /[A-Za-z_][\w.]*$/.exec(start)?.[0] ?? '';
  const from = cursor - word.length;
  if (isInText || !word) return { from, proposals: [] };
  const wanted = word.toLowerCase();
  const asked = new Set(keys.map((key) => key.split('.').slice(0, 2).join('.')));
  const isAggregated = AGGREGATE.test(start.slice(0, from));
  const offered = members.filter(({ kind, name }) =>
    isAggregated
      ? kind === 'dimension' || kind === 'time'
      : kind === 'measure' || (kind === 'dimension' && asked.has(name)),
  );
  const all: Proposal[] = [
    ...offered.map(({ name, title }) => ({ text: name, title })),
    ...(isAggregated ? [] : fields.map(({ name, title }) => ({ text: name, title: title ?? name }))),
    ...(isAggregated ? [] : FUNCTIONS.map((name) => ({ text: name, title: `${name}…)` }))),
  ];
  const rank = ({ text: name, title }: Proposal) => {
    const [plain, words] = [name.toLowerCase(), title.toLocaleLowerCase()];
    if (plain === wanted) return -1;
    if (words.startsWith(wanted) || plain.startsWith(wanted)) return 0;
    if (plain.includes(`.${wanted}`)) return 1;
    return words.includes(wanted) || plain.includes(wanted) ? 2 : -1;
  };
  const proposals = all
    .map((one) => ({ one, rank: rank(one) }))
    .filter((each) => each.rank >= 0)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, SHOWN)
    .map(({ one }) => one);
  return { from, proposals };
}

export function ExpressionInput({
  value,
  members,
  fields,
  keys,
  problem,
  onChange,
}: {
  value: string;
  members: readonly Member[];
  fields: readonly Calculated[];
  keys: readonly string[];
  problem: TextProblem | undefined;
  onChange(text: string): void;
}) {
  const input = useRef<HTMLTextAreaElement>(null);
  const [cursor, setCursor] = useState<number>();
  const [at, setAt] = useState(0);
  const [id, hintId, listId] = [useId(), useId(), useId()];
  const { from, proposals } =
    cursor === undefined ? { from: 0, proposals: [] } : proposalsAt(value, cursor, members, fields, keys);
  const chosen = proposals[Math.min(at, proposals.length - 1)];

  const take = ({ text }: Proposal) => {
    const rest = value.slice(cursor);
    const made = value.slice(0, from) + text;
    onChange(made + rest);
    setCursor(undefined);
    // At once: what is typed before the next frame must come after it too.
    const field = input.current!;
    field.value = made + rest;
    field.focus();
    field.setSelectionRange(made.length, made.length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!chosen) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setAt((before) => (before + step + proposals.length) % proposals.length);
    else if (event.key === 'Enter' || event.key === 'Tab') take(chosen);
    else if (event.key === 'Escape') {
      // The dialog stays open.
      event.stopPropagation();
      setCursor(undefined);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="field">
      <label for={id}>{say('kindExpression')}</label>
      <div class="expression-field">
        <MarkedText
          input={input}
          id={id}
          rows={3}
          maxLength={2000}
          value={value}
          problem={problem}
          aria-describedby={hintId}
          aria-autocomplete="list"
          aria-controls={proposals.length ? listId : undefined}
          aria-activedescendant={chosen ? `${listId}-${chosen.text}` : undefined}
          onInput={(event) => {
            onChange(event.currentTarget.value);
            setCursor(event.currentTarget.selectionStart);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setCursor(undefined)}
        />
        {proposals.length > 0 && (
          <div id={listId} role="listbox" aria-label={say('proposals')} class="proposals">
            {proposals.map((one) => (
              <div
                key={one.text}
                id={`${listId}-${one.text}`}
                role="option"
                tabIndex={-1}
                aria-selected={one === chosen}
                // A click must not take the focus away first.
                onMouseDown={(event) => {
                  event.preventDefault();
                  take(one);
                }}
              >
                <span>{one.title}</span>
                {one.title !== `${one.text}…)` && <code class="soft">{one.text}</code>}
              </div>
            ))}
          </div>
        )}
      </div>
      <p id={hintId} class="soft note">
        {say('expressionHint')}
      </p>
    </div>
  );
}
