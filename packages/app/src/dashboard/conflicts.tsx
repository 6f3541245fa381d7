/** What two people have changed at once, and what is kept of it. */
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { toast } from '../parts/toasts.tsx';
import { fieldText, valueText, widgetIn } from './describe.ts';
import type { Editor } from './editor.ts';
import { say } from './say.ts';
import { type Conflict, canKeepBoth } from './state/merge.ts';
import type { Choice } from './state/session.ts';

/** A dialog that stays as long as a conflict needs a decision. */
export function Conflicts({ editor }: { editor: Editor }) {
  const conflicts = editor.session.conflicts.value;
  const [chosen, setChosen] = useState<ReadonlyMap<Conflict, Choice>>(new Map());
  if (!conflicts.length) return null;
  const choiceOf = (conflict: Conflict): Choice => chosen.get(conflict) ?? 'theirs';
  const decide = () => {
    const names = { mine: say('stepMine'), theirs: say('stepTheirs'), both: say('stepBoth') };
    editor.session.resolve(names, new Map(conflicts.map((one) => [one, choiceOf(one)])));
    setChosen(new Map());
    toast(say('resolvedToast'), { undo: () => editor.session.undo() });
  };
  return (
    <Dialog title={say('conflictTitle')} onClose={decide}>
      <p>{say('conflictHint')}</p>
      {conflicts.map((conflict) => {
        const { path, mine, theirs } = conflict;
        const isWhole = path.length === 2;
        const what =
          path[0] === 'widgets'
            ? say('changeEdited', {
                title: widgetIn(editor, conflict, [mine, theirs]),
                field: isWhole ? say('wholeWidget') : fieldText(path),
              })
            : say('changeDashboard', { field: fieldText(path) });
        const offered: Choice[] = canKeepBoth(conflict) ? ['mine', 'theirs', 'both'] : ['mine', 'theirs'];
        return (
          <fieldset class="group clash" key={path.join('/')}>
            <legend>{what}</legend>
            {offered.map((choice) => (
              <label key={choice} class="check">
                <input
                  type="radio"
                  name={path.join('/')}
                  checked={choiceOf(conflict) === choice}
                  onChange={() => setChosen(new Map(chosen).set(conflict, choice))}
                />
                <span>
                  <strong>{say(choice)}</strong>
                  <span class="value">
                    {choice === 'both'
                      ? say('bothHint')
                      : valueText(editor, path, choice === 'mine' ? mine : theirs)}
                  </span>
                </span>
              </label>
            ))}
          </fieldset>
        );
      })}
      <div class="dialog-foot">
        <button type="button" class="primary" onClick={decide}>
          {say('keepChosen')}
        </button>
      </div>
    </Dialog>
  );
}
