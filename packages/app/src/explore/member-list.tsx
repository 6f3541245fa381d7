/** The fields of a view: searched as one types, and quick with thousands of them. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { openDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { aggregatesOf, type Calculated, nameFor } from './calculated.ts';
import {
  addFilter,
  moveMember,
  removeCalculated,
  setCalculated,
  setGranularity,
  toggleMember,
} from './changes.ts';
import type { Exploration } from './exploration.ts';
import {
  excerptOf,
  GRANULARITIES,
  type ListedMember,
  type ListRow,
  listRows,
  type Model,
  type OpenValues,
  wordsIn,
} from './members.ts';
import { firstOf } from './operators.ts';
import { comparison, hasMember, type Question } from './question.ts';
import { say, type TextKey } from './texts/say.ts';
import { aggregateText, kindText, titleOfField } from './titles.ts';
import { loadValues } from './values.ts';
import { useRange } from './virtual.ts';

const ROW = 32;
const INDENT = 16;

const HEADINGS: Record<string, TextKey> = {
  chosen: 'inQuery',
  measure: 'measures',
  dimension: 'dimensions',
  time: 'times',
  segment: 'segments',
};

/** In the order of the query. */
function chosenMembers(question: Question, model: Model): ListedMember[] {
  const { members } = model;
  const named = (names: string[]) => names.flatMap((name) => members.get(name) ?? []);
  return [
    ...named([
      ...question.times.map(({ dimension }) => dimension),
      ...question.dimensions,
      ...question.measures,
    ]),
    ...question.calculated.map((field) => memberOfField(field, model)),
    ...named(question.segments),
  ];
}

const memberOfField = (field: Calculated, model: Model): ListedMember => ({
  name: field.name,
  title: titleOfField(field, model),
  kind: 'calculated',
  type: 'number',
  description: field.expression,
  format: field.format,
  source: '',
  granularities: [],
  words: '',
});

export function MemberList({
  exploration,
  onFilter,
}: {
  exploration: Exploration;
  onFilter(id: string): void;
}) {
  const { model } = exploration;
  const question = exploration.question.value;
  const [text, setText] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const frame = useRef<HTMLDivElement>(null);
  const members = model.bySource.get(question.source ?? '') ?? [];
  const chosen = chosenMembers(question, model);
  const [values, setValues] = useState<OpenValues>(new Map());
  const [dragged, setDragged] = useState<string>();
  const source = model.sources.find(({ name }) => name === question.source);
  const rows = useMemo(
    () => listRows({ source, members, chosen, text, closed, values }),
    [members, chosen.map(({ name, title }) => `${name} ${title}`).join(), text, closed, values],
  );
  const list = useRange(frame, rows.length, ROW);

  const toggle = ({ name, title, kind }: ListedMember) =>
    exploration.change(
      say(kind === 'calculated' || hasMember(question, name) ? 'remove' : 'add', { name: title }),
      (before) =>
        kind === 'calculated'
          ? removeCalculated(before, name)
          : toggleMember(before, name, kind, FIRST_GRANULARITY),
    );
  const filter = ({ name }: ListedMember) => {
    const member = model.members.get(name)!;
    const { operator, values } = firstOf(member);
    const node = comparison(member.name, operator, values);
    exploration.change(say('filterBy', { name: member.title }), (before) => addFilter(before, node));
    onFilter(node.id);
  };
  /** A value that is pressed is what remains. */
  const filterByValue = ({ name, title }: ListedMember, value: string) =>
    exploration.change(say('filterBy', { name: title }), (before) =>
      addFilter(before, comparison(name, 'equals', [value])),
    );
  const switchValues = async ({ name }: ListedMember) => {
    const put = (change: (known: Map<string, readonly string[] | undefined>) => void) =>
      setValues((before) => {
        const after = new Map(before);
        change(after);
        return after;
      });
    if (values.has(name)) return put((known) => known.delete(name));
    put((known) => known.set(name, undefined));
    const found = await loadValues(exploration.deploymentId, name).catch(() => []);
    put((known) => known.has(name) && known.set(name, found));
  };
  const drop = (target: ListedMember) => {
    const from = chosen.findIndex(({ name }) => name === dragged);
    const to = chosen.indexOf(target);
    setDragged(undefined);
    if (from < 0 || chosen[from]!.kind !== target.kind) return;
    exploration.change(say('moveUp'), (before) => moveMember(before, dragged!, to - from));
  };
  const switchGroup = (group: string) =>
    setClosed((before) => {
      const after = new Set(before);
      if (!after.delete(group)) after.add(group);
      return after;
    });

  /** Arrows go through the rows, also those that are not in the page yet. */
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!move) return;
    const focused = (event.target as HTMLElement).closest<HTMLElement>('[data-row]');
    let at = Number(focused?.dataset.row ?? -1) + move;
    while (rows[at] && (rows[at]!.kind === 'heading' || rows[at]!.kind === 'note')) at += move;
    if (!rows[at]) return;
    event.preventDefault();
    list.scrollTo(at);
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-row="${at}"] .member-name`)?.focus(),
    );
  };

  return (
    <>
      <label class="search-field">
        <Icon name="search" size={16} />
        <input
          type="search"
          value={text}
          placeholder={say('searchMembers')}
          aria-label={say('searchMembers')}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </label>
      <button type="button" class="quiet add-field" onClick={() => void editField(exploration)}>
        <span class="sign" aria-hidden="true">
          ƒ
        </span>
        {say('addCalculated')}
      </button>
      <div class="member-list" ref={frame} role="group" aria-label={say('members')} onKeyDown={onKeyDown}>
        {rows.length === 0 && text && <p class="soft note">{say('nothingFound', { text })}</p>}
        <div style={{ height: `${rows.length * ROW}px`, position: 'relative' }}>
          {rows.slice(list.from, list.from + list.size).map((row, i) => {
            const index = list.from + i;
            return (
              <div
                key={row.key}
                class="member-row"
                data-row={index}
                style={{
                  transform: `translateY(${index * ROW}px)`,
                  paddingInlineStart: `${row.depth * INDENT}px`,
                }}
                {...(row.kind === 'member' && row.key.startsWith('c-')
                  ? {
                      draggable: true,
                      onDragStart: () => setDragged(row.member.name),
                      onDragOver: (event: DragEvent) => dragged && event.preventDefault(),
                      onDrop: () => drop(row.member),
                    }
                  : {})}
              >
                {row.kind === 'heading' ? (
                  <Heading row={row} isClosed={closed.has(row.id)} onClick={() => switchGroup(row.id)} />
                ) : row.kind === 'member' ? (
                  <MemberRow
                    row={row}
                    exploration={exploration}
                    words={wordsIn(text)}
                    hasValues={values.has(row.member.name)}
                    onToggle={() => toggle(row.member)}
                    onFilter={() => filter(row.member)}
                    onValues={() => void switchValues(row.member)}
                  />
                ) : row.kind === 'value' ? (
                  <button
                    type="button"
                    class="member-name quiet"
                    aria-label={`${row.member.title}: ${row.value}`}
                    onClick={() => filterByValue(row.member, row.value)}
                  >
                    <span class="text">{row.value}</span>
                  </button>
                ) : (
                  <p class="soft note">{say(row.text === 'loading' ? 'running' : 'noValues')}</p>
                )}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Of a time that is added. */
export const FIRST_GRANULARITY = 'month';

/** The dialog is loaded when it is used. */
export async function editField(exploration: Exploration, field?: Calculated) {
  const { default: CalculatedEditor } = await import('./calculated-editor.tsx');
  openDialog((close) => <CalculatedEditor exploration={exploration} field={field} onClose={close} />);
}

const OF_MEASURES = [
  'shareOfTotal',
  'runningTotal',
  'difference',
  'percentDifference',
  'movingAverage',
  'rank',
] as const;

/** What can be computed from a member by one click. */
function fieldItems(exploration: Exploration, { name, title, kind, type }: ListedMember): MenuItem[] {
  const add = (field: Omit<Calculated, 'name' | 'title'>, label: string): MenuItem => ({
    label,
    run: () =>
      exploration.change(`${title}: ${label}`, (before) => {
        const key = nameFor(`${name.split('.')[1]} ${field.function ?? field.kind}`, before.calculated);
        const named = { name: key, ...field };
        return setCalculated(before, { ...named, title: titleOfField(named, exploration.model) });
      }),
  });
  const items =
    kind === 'measure'
      ? OF_MEASURES.map((each) => add({ kind: each, of: name }, kindText(each)))
      : kind === 'segment' || kind === 'calculated'
        ? []
        : aggregatesOf(type).map((each) =>
            add({ kind: 'aggregate', of: name, function: each }, aggregateText(each)),
          );
  return items.map((item, i) => (i === 0 ? { ...item, begins: true } : item));
}

function Heading({
  row,
  isClosed,
  onClick,
}: {
  row: Extract<ListRow, { kind: 'heading' }>;
  isClosed: boolean;
  onClick(): void;
}) {
  if (row.id === 'chosen') return <h3 class="member-heading">{say('inQuery')}</h3>;
  return (
    <h3 class="member-heading">
      <button type="button" class="quiet" aria-expanded={!isClosed} onClick={onClick}>
        <Icon name={isClosed ? 'right' : 'down'} size={14} />
        {row.title ?? say(HEADINGS[row.id]!)}
        <span class="soft">{row.count}</span>
      </button>
    </h3>
  );
}

const SIGNS: Record<string, string> = {
  measure: '#',
  calculated: 'ƒ',
  time: '◷',
  segment: '◔',
  number: '1',
  boolean: '✓',
  string: 'A',
};

/** What was searched for, where it was found. */
const Found = ({ text, words, length }: { text: string; words: readonly string[]; length: number }) => (
  <>
    {excerptOf(text, words, length).map(([part, isFound], i) =>
      isFound ? <mark key={String(i)}>{part}</mark> : <span key={String(i)}>{part}</span>,
    )}
  </>
);

function MemberRow({
  row: { member, isChosen, key, why },
  exploration,
  words,
  hasValues,
  onToggle,
  onFilter,
  onValues,
}: {
  row: Extract<ListRow, { kind: 'member' }>;
  exploration: Exploration;
  words: readonly string[];
  hasValues: boolean;
  onToggle(): void;
  onFilter(): void;
  onValues(): void;
}) {
  const { kind, title, type, description } = member;
  const isOnTop = key.startsWith('c-');
  const time = exploration.question.value.times.find(({ dimension }) => dimension === member.name);
  const name = say(isChosen ? 'remove' : 'add', { name: title });
  const move = (step: number) =>
    exploration.change(say(step < 0 ? 'moveUp' : 'moveDown'), (before) =>
      moveMember(before, member.name, step),
    );
  const field = exploration.question.value.calculated.find(({ name: key }) => key === member.name);
  const items: MenuItem[] = [
    kind === 'calculated'
      ? { label: say('editCalculated'), run: () => void editField(exploration, field) }
      : { label: say('filterBy', { name: title }), run: onFilter },
    ...(isOnTop && kind !== 'segment'
      ? [
          { label: say('moveUp'), run: () => move(-1) },
          { label: say('moveDown'), run: () => move(1) },
        ]
      : []),
    ...(kind === 'dimension' && !isOnTop
      ? [{ label: say(hasValues ? 'hideValues' : 'showValues'), run: onValues }]
      : []),
    ...fieldItems(exploration, member),
  ];
  return (
    <div class={`member member-${kind} ${isChosen ? 'chosen' : ''}`}>
      <button
        type="button"
        class="member-name"
        aria-pressed={isChosen}
        aria-label={name}
        title={[
          title,
          description,
          member.name,
          why === 'description' ? say('matchedDescription') : why === 'name' ? say('matchedName') : undefined,
        ]
          .filter(Boolean)
          .join('\n')}
        onClick={onToggle}
      >
        <span class="sign" aria-hidden="true">
          {SIGNS[kind] ?? SIGNS[type] ?? 'A'}
        </span>
        <span class="text">{why ? <Found text={title} words={words} length={80} /> : title}</span>
        {why && why !== 'title' && (
          <span class="soft why">
            <Found
              text={why === 'name' ? member.name.split('.')[1]! : (description ?? '')}
              words={words}
              length={32}
            />
          </span>
        )}
      </button>
      {time && (
        <select
          class="grain"
          aria-label={`${title}: ${say('granularity')}`}
          value={time.granularity}
          onChange={(event) => {
            const { value } = event.currentTarget;
            exploration.change(say('granularity'), (before) => setGranularity(before, member.name, value));
          }}
        >
          {GRANULARITIES.map((each) => (
            <option key={each} value={each}>
              {say(each)}
            </option>
          ))}
          {member.granularities.map((each) => (
            <option key={each.name} value={each.name}>
              {each.title}
            </option>
          ))}
        </select>
      )}
      {kind !== 'segment' && (
        <Menu label={say('memberMenu', { name: title })} items={items} class="icon small">
          <Icon name="more" size={16} />
        </Menu>
      )}
    </div>
  );
}
