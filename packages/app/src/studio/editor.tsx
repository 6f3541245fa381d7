/** The text of the open file. CodeMirror is loaded when the first file is shown. */
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Empty } from '../parts/states.tsx';
import type { TextEditor } from './codemirror.ts';
import { openRename } from './rename.tsx';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

/** Where the editor is asked to go: a problem in the list, or a cube in the graph. */
export const target = signal<{ file: string; line: number; column: number } | undefined>(undefined);

export function goToPlace(studio: Studio, file: string, line: number, column = 1) {
  studio.open.value = file;
  target.value = { file, line, column };
}

export function Editor({ studio, save }: { studio: Studio; save(): void }) {
  const host = useRef<HTMLDivElement>(null);
  const path = studio.open.value;
  const isText = path !== undefined && studio.textOf(path) !== undefined;
  useEffect(() => {
    if (!isText) return;
    let editor: TextEditor | undefined;
    let isOver = false;
    const stops: (() => void)[] = [];
    void import('./codemirror.ts').then(({ createEditor }) => {
      if (isOver) return;
      const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
      const made = createEditor({
        root,
        label: say('editorLabel'),
        known: () => ({
          schema: studio.schema.peek(),
          cubes: studio.cubes.peek(),
          tables: studio.tables.peek(),
        }),
        onChange: (file, text) => studio.edit(file, text),
        onSave: save,
        onRename: (cube, member) => openRename(studio, cube, member),
      });
      editor = made;
      let shown: string | undefined;
      stops.push(
        effect(() => {
          const file = studio.open.value;
          if (file === undefined) return;
          // A file that was written elsewhere, such as by a restore, is shown as it is now.
          const saved = studio.saved.value.get(file);
          void studio.rewritten.value;
          const text = studio.drafts.get(file) ?? saved;
          if (text === undefined) return;
          if (shown !== file) made.open(file, text, studio.isReadOnly);
          else made.replace(text);
          shown = file;
        }),
        effect(() => {
          const file = studio.open.value;
          made.show(file === undefined ? [] : (studio.problemsByFile.value.get(file) ?? []));
        }),
        effect(() => {
          const place = target.value;
          if (!place || place.file !== studio.open.value) return;
          made.goTo(place.line, place.column);
          target.value = undefined;
        }),
      );
    });
    return () => {
      isOver = true;
      for (const stop of stops) stop();
      editor?.stop();
    };
  }, [studio, isText]);
  if (path === undefined) return <Empty title={say('noFiles')} hint={say('noFilesHint')} />;
  return (
    <>
      <div class="studio-path">
        <span class="grow">{path}</span>
        {studio.dirty.value.has(path) && <span class="soft">{say('unsaved')}</span>}
      </div>
      {isText ? <div ref={host} class="studio-editor" /> : <Empty title={say('notText')} />}
    </>
  );
}
