/** The text editor of the studio: CodeMirror, loaded when the first file is opened. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { forceLinting, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, Transaction } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { CODE_STYLE, CODE_THEME } from '../parts/code-theme.ts';
import { type CompletionContext, complete, cubeAround } from './completion.ts';
import { describe } from './language.ts';
import type { ShownProblem } from './messages.ts';
import { placeIn } from './yaml-place.ts';

export interface TextEditor {
  /** Shows another file, with the history of its own if it was shown before. */
  open(path: string, text: string, isReadOnly: boolean): void;
  /** Replaces the text, for what others wrote or a restore brought back. It can be undone. */
  replace(text: string): void;
  show(problems: readonly ShownProblem[]): void;
  goTo(line: number, column?: number): void;
  focus(): void;
  stop(): void;
}

export interface EditorOptions {
  /** A shadow root: there the styles of the editor are no inline styles, which the policy of the page refuses. */
  root: ShadowRoot;
  label: string;
  known(): CompletionContext;
  onChange(path: string, text: string): void;
  onSave(): void;
  /** Called to rename the member at the caret. */
  onRename?(cube: string, member: string): void;
}

const STATES_MAX = 30;

export function createEditor({ root, label, known, onChange, onSave, onRename }: EditorOptions): TextEditor {
  let path = '';
  const states = new Map<string, EditorState>();
  const readOnly = new Compartment();
  const linesUpTo = (state: EditorState, position: number) => {
    const line = state.doc.lineAt(position);
    const lines = state.doc.sliceString(0, line.from).split('\n').slice(0, -1);
    return [...lines, line.text.slice(0, position - line.from)];
  };
  const extensions = [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    yaml(),
    syntaxHighlighting(CODE_STYLE),
    CODE_THEME,
    EditorView.contentAttributes.of({ 'aria-label': label }),
    autocompletion({
      icons: false,
      override: [
        ({ state, pos, explicit }) => {
          const found = complete(linesUpTo(state, pos), known());
          if (!found?.offered.length || (!explicit && found.length === 0 && !isAfterKey(state, pos)))
            return null;
          return {
            from: pos - found.length,
            options: found.offered.map((one) => ({
              label: one.label,
              apply: one.text,
              type: one.kind,
              ...(one.detail && { detail: one.detail }),
              ...(one.info && { info: one.info }),
            })),
            validFor: /^[\w.]*$/,
          };
        },
      ],
    }),
    hoverTooltip((view, position) => hoverAt(view, position, known())),
    keymap.of([
      {
        key: 'Mod-s',
        preventDefault: true,
        run: () => {
          onSave();
          return true;
        },
      },
      {
        key: 'F2',
        run: ({ state }) => {
          const { head } = state.selection.main;
          const line = state.doc.lineAt(head);
          const [from, to] = wordAround(line.text, head - line.from);
          const { cubes } = known();
          const around = cubeAround(linesUpTo(state, line.to), cubes)?.name;
          const found = memberAt(line.text.slice(from, to), around, cubes);
          if (!found || !onRename) return false;
          onRename(found.cube.name, found.member.name);
          return true;
        },
      },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) onChange(path, state.doc.toString());
    }),
  ];
  const create = (text: string, isReadOnly: boolean) =>
    EditorState.create({
      doc: text,
      extensions: [...extensions, readOnly.of(readOnlyOf(isReadOnly))],
    });
  const view = new EditorView({ state: create('', true), root });
  root.append(view.dom);

  function hoverAt({ state }: EditorView, position: number, { schema, cubes }: CompletionContext) {
    const line = state.doc.lineAt(position);
    const [from, to] = wordAround(line.text, position - line.from);
    const word = line.text.slice(from, to);
    if (!word) return null;
    const before = linesUpTo(state, line.from + from);
    const isKey = /^\s*:/.test(line.text.slice(to));
    const place = isKey ? placeIn([...before.slice(0, -1), before.at(-1)!]) : placeIn(before);
    const text =
      describe(schema, place, word) ??
      aboutName(word, cubeAround(linesUpTo(state, line.to), cubes)?.name, cubes);
    if (!text) return null;
    return {
      pos: line.from + from,
      end: line.from + to,
      create: () => {
        const dom = document.createElement('div');
        dom.className = 'hover-text';
        dom.textContent = text;
        return { dom };
      },
    };
  }

  return {
    open(next, text, isReadOnly) {
      if (path) states.set(path, view.state);
      path = next;
      const kept = states.get(next);
      states.delete(next);
      for (const old of states.keys()) if (states.size > STATES_MAX) states.delete(old);
      view.setState(kept && kept.doc.toString() === text ? kept : create(text, isReadOnly));
      view.dispatch({ effects: readOnly.reconfigure(readOnlyOf(isReadOnly)) });
    },
    replace(text) {
      const { state } = view;
      if (state.doc.toString() === text) return;
      // Only what differs, so that the caret stays where it is.
      const before = state.doc.toString();
      let from = 0;
      while (from < before.length && from < text.length && before[from] === text[from]) from++;
      let same = 0;
      const most = Math.min(before.length, text.length) - from;
      while (same < most && before.at(-1 - same) === text.at(-1 - same)) same++;
      view.dispatch({
        changes: { from, to: before.length - same, insert: text.slice(from, text.length - same) },
        annotations: Transaction.userEvent.of('input.replace'),
      });
    },
    show(problems) {
      const { doc } = view.state;
      const diagnostics = problems.map(({ line, column, message, hint, isError }) => {
        const shown = doc.line(Math.min(Math.max(line, 1), doc.lines));
        const from = Math.min(shown.from + column - 1, shown.to);
        const [, end] = wordAround(shown.text, from - shown.from);
        return {
          from,
          to: Math.max(from, Math.min(shown.from + end, shown.to)),
          severity: isError ? ('error' as const) : ('warning' as const),
          message: hint ? `${message} ${hint}` : message,
        };
      });
      view.dispatch(setDiagnostics(view.state, diagnostics));
      forceLinting(view);
    },
    goTo(line, column = 1) {
      const { doc } = view.state;
      const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
      const anchor = Math.min(at.from + column - 1, at.to);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    focus: () => view.focus(),
    stop: () => view.destroy(),
  };
}

const readOnlyOf = (isReadOnly: boolean) => [
  EditorState.readOnly.of(isReadOnly),
  EditorView.editable.of(!isReadOnly),
  // A read-only text can be moved through with the keys, too.
  ...(isReadOnly ? [EditorView.contentAttributes.of({ tabindex: '0', 'aria-readonly': 'true' })] : []),
];

/** Right after `key: `, where a list of values helps before the first letter. */
const isAfterKey = (state: EditorState, position: number) => {
  const line = state.doc.lineAt(position);
  return /:\s$|\{$/.test(line.text.slice(0, position - line.from));
};

function wordAround(text: string, at: number): [number, number] {
  let [from, to] = [at, at];
  while (from > 0 && /[\w.]/.test(text[from - 1]!)) from--;
  while (to < text.length && /[\w.]/.test(text[to]!)) to++;
  return [from, to];
}

function memberAt(word: string, around: string | undefined, cubes: CompletionContext['cubes']) {
  const [first, second] = word.split('.');
  const cube = cubes.find(({ name }) => name === (second === undefined || first === 'CUBE' ? around : first));
  const member = cube?.members.find(({ name }) => name === (second ?? first));
  return member && { cube: cube!, member };
}

function aboutName(
  word: string,
  around: string | undefined,
  cubes: CompletionContext['cubes'],
): string | undefined {
  const [first] = word.split('.');
  const { cube, member } = memberAt(word, around, cubes) ?? {};
  if (member)
    return [
      `${cube!.name}.${member.name}: ${member.kind} ${member.type}`.trim(),
      member.title,
      member.description,
    ]
      .filter(Boolean)
      .join('\n');
  const named = cubes.find(({ name }) => name === first);
  return named && [named.name, named.title, named.description, named.table].filter(Boolean).join('\n');
}
