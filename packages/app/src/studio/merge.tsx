/** Merging a branch: what it changes, what breaks by it, and conflicts that are solved here. */
import { OrielError } from '@oriel/client';
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate } from '../data/cache.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { toast, toastProblem } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { say as sayAll } from '../texts/say.ts';
import { Breaks } from './breaks.tsx';
import { Changes } from './changes.tsx';
import { Conflicts } from './conflicts.tsx';
import type { StudioProps } from './props.ts';
import { say } from './say.ts';

type Conflict = OrielError['conflicts'][number];

export function openMerge(properties: StudioProps) {
  // What it said of an earlier state of the branch is old, however short ago that was.
  invalidate(`d/${properties.studio.deploymentId}/merge-preview/`);
  openDialog((close) => <MergeDialog {...properties} onClose={close} />);
}

function MergeDialog(properties: StudioProps & { onClose(): void }) {
  const { studio, branches, goTo, onClose } = properties;
  const { deploymentId, branch } = studio;
  const parent = branch.parentBranch!;
  const [message, setMessage] = useState('');
  const [deletes, setDeletes] = useState(true);
  const [conflicts, setConflicts] = useState<readonly Conflict[]>([]);
  const [isBusy, setBusy] = useState(false);
  const hasChanges = async () => {
    const { items } = await api.listBranches({ deploymentId, first: 1000 });
    return items.find(({ id }) => id === branch.id)?.hasUncommittedChanges ?? false;
  };
  const isLive = branches.find(({ name }) => name === parent)?.isDefault;
  const merge = async () => {
    setBusy(true);
    try {
      const text = message.trim() || undefined;
      if (await hasChanges())
        await api.commitChanges({
          deploymentId,
          body: { branchName: branch.name, ...(text && { message: text }) },
        });
      await api.mergeIntoParentBranch({
        deploymentId,
        body: {
          branchName: branch.name,
          deleteBranch: deletes,
          switchToParentBranch: deletes,
          ...(text && { message: text }),
        },
      });
      // What everybody queries is what explore asks.
      const next = isLive && { text: say('exploreCube'), href: addressOf(deploymentId, 'explore') };
      toast(say('merged', { name: parent }), next ? { next } : {});
      onClose();
      goTo(deletes ? parent : branch.name);
    } catch (error) {
      if (error instanceof OrielError && error.code === 'merge_conflict') setConflicts(error.conflicts);
      else toastProblem(error);
    } finally {
      setBusy(false);
    }
  };
  if (conflicts.length)
    return (
      <Dialog title={say('conflicts')} size="wide" onClose={onClose}>
        <Conflicts
          studio={studio}
          conflicts={conflicts}
          onSolved={() => {
            setConflicts([]);
            void merge();
          }}
        />
      </Dialog>
    );
  return (
    <Dialog title={say('mergeInto', { name: parent })} size="wide" onClose={onClose}>
      {isLive && <p>{say('mergeHint')}</p>}
      <Breaks studio={studio} />
      <Changes studio={studio} />
      <label class="field">
        <span>{say('message')}</span>
        <input
          value={message}
          maxLength={10_000}
          onInput={(event) => setMessage(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={deletes}
          onChange={(event) => setDeletes(event.currentTarget.checked)}
        />
        {say('deleteAfterMerge')}
      </label>
      <div class="dialog-foot">
        <button type="button" onClick={onClose}>
          {sayAll('cancel')}
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void merge()}>
          {say('merge')}
        </button>
      </div>
    </Dialog>
  );
}
