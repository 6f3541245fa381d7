/** CodeMirror for SQL and JSON, loaded when an editor is first shown. The studio has one of its own for models. */
import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, StreamLanguage, type StringStream, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { CODE_STYLE, CODE_THEME } from './code-theme.ts';

export type CodeLanguage = 'sql' | 'json';

export interface CodeProblem {
  message: string;
  /** Characters of the text; undefined for the text as a whole. */
  from?: number;
  to?: number;
}

export interface CodeField {
  /** Replaces the text, if it is another one. */
  set(text: string): void;
  show(problem: CodeProblem | undefined): void;
  stop(): void;
}

export interface CodeOptions {
  /** A shadow root: there the styles of the editor are no inline styles, which the policy of the page refuses. */
  root: ShadowRoot;
  language: CodeLanguage;
  label: string;
  text: string;
  onInput(text: string): void;
  onRun(): void;
}

export function createCodeField({ root, language, label, text, onInput, onRun }: CodeOptions): CodeField {
  const run = () => {
    onRun();
    return true;
  };
  const view = new EditorView({
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        EditorView.lineWrapping,
        StreamLanguage.define({ name: language, token: language === 'sql' ? sqlToken : jsonToken }),
        syntaxHighlighting(CODE_STYLE),
        CODE_THEME,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        // Tab leaves the editor, as it leaves every field.
        keymap.of([{ key: 'Mod-Enter', run }, ...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onInput(state.doc.toString());
        }),
      ],
    }),
  });
  root.append(view.dom);
  return {
    set(next) {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    show(problem) {
      const { length } = view.state.doc;
      const from = Math.min(problem?.from ?? 0, length);
      const to = Math.min(Math.max(problem?.to ?? 0, from), length);
      const shown =
        problem?.from === undefined
          ? []
          : [{ from, to, severity: 'error' as const, message: problem.message }];
      view.dispatch(setDiagnostics(view.state, shown));
    },
    stop: () => view.destroy(),
  };
}

const WORDS = new Set(
  `select from where group by order having limit offset with as on join left right inner outer full cross union all
  distinct case when then else end and or not in is null like ilike between exists asc desc over partition cast true false
  interval values using measure`.split(/\s+/),
);

function sqlToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/--.*/) || stream.match(/\/\*.*?(\*\/|$)/)) return 'comment';
  if (stream.match(/'(?:[^']|'')*'?/)) return 'string';
  if (stream.match(/"(?:[^"]|"")*"?/)) return null;
  if (stream.match(/\d+(\.\d+)?/)) return 'number';
  const word = stream.match(/\w+/) as RegExpMatchArray | null;
  if (word) return WORDS.has(word[0].toLowerCase()) ? 'keyword' : null;
  stream.next();
  return null;
}

function jsonToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/"(?:[^"\\]|\\.)*"(?=\s*:)/)) return 'propertyName';
  if (stream.match(/"(?:[^"\\]|\\.)*"?/)) return 'string';
  if (stream.match(/-?\d+(\.\d+)?([eE][-+]?\d+)?/)) return 'number';
  if (stream.match(/true|false|null/)) return 'keyword';
  stream.next();
  return null;
}
