/** Which application a widget runs: one that was published from another workbook. */
import { useState } from 'preact/hooks';
import { useData } from '../data/cache.ts';
import { wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { say } from './say.ts';
import {
  applicationIn,
  applicationKey,
  applicationsNamed,
  type FoundApplications,
  findApplication,
} from './server.ts';
import { TitleField, type WidgetProps } from './settings.tsx';

export function ApplicationSettings({ editor, config, set }: WidgetProps) {
  const { deploymentId } = editor.where;
  const publicId = typeof config.publicId === 'string' ? config.publicId : undefined;
  const [text, setText] = useState('');
  const search = text.trim();
  const { data: chosen } = useData(publicId ? applicationKey(editor.where, publicId) : null, () =>
    findApplication(editor.where, publicId!),
  );
  const { data: first, problem } = useData(`d/${deploymentId}/applications/${search}`, (signal) =>
    applicationsNamed(deploymentId, search, { signal }),
  );
  const [further, setFurther] = useState<FoundApplications & { search: string }>();
  const last = further?.search === search ? further : first;
  const found = last === first ? first?.found : [...(first?.found ?? []), ...last!.found];
  const searchFurther = () =>
    attempt(async () => {
      const next = await applicationsNamed(deploymentId, search, { after: last!.after });
      const before = last === first ? [] : last!.found;
      setFurther({ search, found: [...before, ...next.found], after: next.after });
    });
  const choose = (workbookId: number, name: string) =>
    attempt(async () => {
      const application = await applicationIn({ deploymentId, workbookId });
      if (application) set('publicId', application.publicId);
      else toast(say('notApplication', { name }), { isProblem: true });
    });
  return (
    <>
      <TitleField config={config} set={set} placeholder={chosen?.title ?? undefined} />
      <div>
        <label class="field">
          <span>{say('application')}</span>
          <input
            type="search"
            placeholder={say('findApplication')}
            autocomplete="off"
            maxLength={255}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <ul class="found">
          {found?.map(({ id, name }) => (
            <li key={id}>
              <button
                type="button"
                class="quiet"
                aria-pressed={chosen?.workbookId === id}
                onClick={() => void choose(id, name)}
              >
                <span class="grow">{name}</span>
              </button>
            </li>
          ))}
          {last?.after && (
            <li>
              <button type="button" class="quiet" onClick={() => void searchFurther()}>
                {say('searchFurther')}
              </button>
            </li>
          )}
          {found?.length === 0 && !last?.after && <li class="soft">{say('noApplications')}</li>}
          {problem && <li class="soft">{wordsOf(problem)}</li>}
        </ul>
        <p class="soft">{say('applicationHint')}</p>
      </div>
    </>
  );
}
