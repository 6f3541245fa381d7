/** Another name for a member, in all files of the model; and which reports use the old one. */
import { useState } from 'preact/hooks';
import { invalidate } from '../data/cache.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { attempt } from '../parts/toasts.tsx';
import { say as sayAll } from '../texts/say.ts';
import { Breaks } from './breaks.tsx';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

/** Without a cube, the person chooses. */
export function openRename(studio: Studio, cube = '', member = '') {
  if (studio.isReadOnly) return;
  openDialog((close) => <RenameMember studio={studio} cube={cube} member={member} onClose={close} />);
}

type RenameResult = Awaited<ReturnType<Studio['renameMember']>>;

function RenameMember({
  studio,
  onClose,
  ...given
}: {
  studio: Studio;
  cube: string;
  member: string;
  onClose(): void;
}) {
  // Members of views are those of cubes.
  const cubes = studio.cubes.value.filter(({ isView }) => !isView);
  const [cube, setCube] = useState(given.cube || (cubes[0]?.name ?? ''));
  const members = cubes.find(({ name }) => name === cube)?.members ?? [];
  const [chosen, setMember] = useState(given.member);
  const member = members.some(({ name }) => name === chosen) ? chosen : (members[0]?.name ?? '');
  const [newName, setNewName] = useState(given.member);
  const [done, setDone] = useState<RenameResult>();
  const [takenIn, setTakenIn] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const rename = (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    void attempt(async () => {
      const renamed = await studio.renameMember(cube, member, newName);
      setTakenIn(renamed.takenIn);
      if (renamed.takenIn !== undefined || !renamed.files.length) return;
      // What it said of an earlier state of the branch is old.
      invalidate(`d/${studio.deploymentId}/merge-preview/`);
      setDone(renamed);
    }).finally(() => setBusy(false));
  };
  if (done)
    return (
      <Dialog title={say('renameMember')} size="wide" onClose={onClose}>
        <p role="status">
          {say('renamedPlaces', { count: done.places, name: `${cube}.${newName}`, files: done.files.length })}
        </p>
        <ul class="meanings">
          {done.shownBy.map(({ before, after }) => (
            <li key={before}>
              <code>{before}</code> → <code>{after}</code>
            </li>
          ))}
        </ul>
        <p class="soft">{say('renamedReports')}</p>
        <Breaks studio={studio} />
      </Dialog>
    );
  return (
    <Dialog title={say('renameMember')} onClose={onClose}>
      <form onSubmit={rename}>
        <label class="field">
          <span>{say('cubeOrView')}</span>
          <select value={cube} onChange={(event) => setCube(event.currentTarget.value)}>
            {cubes.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{say('member')}</span>
          <select
            value={member}
            onChange={(event) => {
              setMember(event.currentTarget.value);
              setNewName(event.currentTarget.value);
            }}
          >
            {members.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{say('newName')}</span>
          <input
            required
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            maxLength={100}
            value={newName}
            onInput={(event) => {
              setNewName(event.currentTarget.value);
              setTakenIn(undefined);
            }}
          />
        </label>
        {takenIn !== undefined && (
          <p class="bad" role="alert">
            {say('nameTakenIn', { name: takenIn })}
          </p>
        )}
        <p class="soft">{say('renameMemberHint')}</p>
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            {sayAll('cancel')}
          </button>
          <button type="submit" class="primary" disabled={isBusy || newName === member || !member}>
            {say('rename')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
