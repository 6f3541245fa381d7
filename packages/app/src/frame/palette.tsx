/** Search over everything in the deployment, together with every command, from anywhere. */

import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { type Command, commands, shownKeys } from '../commands.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { addressOfItem, iconOfItem, isReport, isWorkbook, nameOfItem, placeOfItem } from '../home/items.ts';
import { openDialog } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icons.tsx';
import { deploymentIn } from '../place.ts';
import { say } from '../texts/say.ts';

let isOpen = false;

export function openPalette() {
  if (isOpen) return;
  isOpen = true;
  openDialog((close) => (
    <Palette
      close={() => {
        isOpen = false;
        close();
      }}
    />
  ));
}

interface Hit {
  id: string;
  title: string;
  detail: string;
  icon: IconName | undefined;
  run(): void;
}

/** The server is asked once the person has stopped typing for so long. */
const PAUSE_MS = 120;

function Palette({ close }: { close(): void }) {
  const { path, route } = useLocation();
  const deploymentId = deploymentIn(path);
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [chosen, setChosen] = useState(0);
  // What can be done is what could be done before the palette was opened.
  const [offered] = useState(() => commands.peek().filter(({ id }) => id !== 'palette'));
  useLayoutEffect(() => dialog.current!.showModal(), []);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const [workbooks] = useState<WorkbookNames>(() => new Map());
  const isAsked = asked !== '' && deploymentId !== undefined;
  const { data: found, isLoading } = useData(isAsked ? `d/${deploymentId}/search/${asked}` : null, (signal) =>
    search(deploymentId!, asked, workbooks, signal),
  );

  const leave = (run: () => void) => () => {
    close();
    run();
  };
  const items: Hit[] = (isAsked ? (found ?? []) : []).map(({ item, place }) => ({
    id: `${item.type}-${item.id}`,
    title: nameOfItem(item),
    detail: place,
    icon: iconOfItem(item),
    run: leave(() => route(addressOfItem(item))),
  }));
  const matching: Hit[] = offered
    .filter(({ title }) => matches(title, text))
    .map((command: Command) => ({
      id: command.id,
      title: command.title,
      detail: command.keys ? shownKeys(command.keys) : '',
      icon: undefined,
      run: leave(command.run),
    }));
  const groups = [
    { title: say('results'), hits: items },
    { title: say('commands'), hits: matching },
  ].filter(({ hits }) => hits.length > 0);
  const all = groups.flatMap(({ hits }) => hits);
  const current = all[Math.min(chosen, all.length - 1)];
  const optionId = (hit: Hit | undefined) => (hit ? `${listId}-${hit.id}` : undefined);

  useEffect(() => {
    document.getElementById(optionId(current) ?? '')?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && all.length > 0) {
      event.preventDefault();
      setChosen((Math.min(chosen, all.length - 1) + step + all.length) % all.length);
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      current?.run();
    }
  }

  return (
    <dialog
      ref={dialog}
      class="dialog palette"
      aria-label={say('openPalette')}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={say('searchOrCommand')}
          placeholder={say('searchOrCommand')}
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={optionId(current)}
          autocomplete="off"
          spellcheck={false}
          maxLength={255}
          autoFocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={listId} role="listbox" aria-label={say('results')} class="palette-list">
        {groups.map(({ title, hits }) => (
          <div key={title} role="group" aria-label={title}>
            <p class="group-title" aria-hidden="true">
              {title}
            </p>
            {hits.map((hit) => (
              <div
                key={hit.id}
                id={optionId(hit)}
                role="option"
                tabIndex={-1}
                aria-selected={hit === current}
                onClick={hit.run}
                onMouseMove={() => setChosen(all.indexOf(hit))}
              >
                {hit.icon && <Icon name={hit.icon} />}
                <span class="grow">{hit.title}</span>
                {hit.detail && <span class="soft">{hit.detail}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p class="palette-note soft" role="status">
        {isAsked && found?.length === 0 && !isLoading
          ? say('noHits', { text: asked })
          : text === '' && deploymentId !== undefined
            ? say('searchHint')
            : ''}
      </p>
    </dialog>
  );
}

/** By the ids of workbooks, as long as the palette is open. */
type WorkbookNames = Map<number, Promise<string | undefined>>;

/** What is found, each with the folders and the workbook that it is in: reports of several workbooks can have one name. */
async function search(deploymentId: number, text: string, workbooks: WorkbookNames, signal: AbortSignal) {
  const { items } = await api.workspaceObjects({ deploymentId, search: text, first: 20 }, { signal });
  for (const { id, name } of items.filter(isWorkbook)) workbooks.set(id, Promise.resolve(name));
  const nameOf = (workbookId: number) => {
    const known = workbooks.get(workbookId);
    if (known) return known;
    // The person may read the report but not its workbook.
    const name = api.getWorkbook({ deploymentId, workbookId }).then(
      (workbook) => workbook.name,
      () => undefined,
    );
    workbooks.set(workbookId, name);
    return name;
  };
  return Promise.all(
    items.map(async (item) => {
      const workbook = isReport(item) && item.workbookId ? await nameOf(item.workbookId) : undefined;
      return { item, place: [placeOfItem(item), workbook].filter(Boolean).join(' / ') };
    }),
  );
}

/** Every word of the text is somewhere in the title. */
const matches = (title: string, text: string) =>
  text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => title.toLocaleLowerCase().includes(word));
