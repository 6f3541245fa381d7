/** The demo, for admins: one click adds it, and one click removes it. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { api } from '../data/api.ts';
import { invalidate } from '../data/cache.ts';
import { forgetDeployment, useDeployments, useMe } from '../frame/account.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { say as sayAll } from '../texts/say.ts';
import { say } from './say.ts';

function useDemo() {
  const { route } = useLocation();
  const { data: me } = useMe();
  const { data: deployments } = useDeployments();
  const [isAdding, setAdding] = useState(false);
  const isKnown = me?.isAdmin === true && deployments !== undefined;
  const demo = deployments?.find(({ isDemo }) => isDemo);
  const add = async () => {
    setAdding(true);
    const added = await attempt(() => api.addDemo());
    setAdding(false);
    if (!added) return;
    invalidate('deployments');
    route(addressOf(added.id, 'home'));
    toast(say('demoAdded'));
  };
  const remove = () => {
    if (demo) openDialog((close) => <RemoveDemo id={demo.id} onClose={close} onDone={() => route('/')} />);
  };
  return { isKnown, isAdding, demo, add, remove };
}

/** Beside the steps of a deployment, and among the commands. */
export function DemoButton({ deploymentId, isShown }: { deploymentId?: number; isShown: boolean }) {
  const { isKnown, isAdding, demo, add, remove } = useDemo();
  useCommands(
    isKnown
      ? [
          demo
            ? { id: 'remove-demo', title: say('removeDemo'), run: remove }
            : { id: 'add-demo', title: say('addDemo'), run: () => void add() },
        ]
      : [],
  );
  if (!isKnown || !isShown) return null;
  if (!demo)
    return (
      <button type="button" disabled={isAdding} onClick={() => void add()}>
        {say(isAdding ? 'addingDemo' : 'addDemo')}
      </button>
    );
  if (demo.id !== deploymentId)
    return (
      <a class="button" href={addressOf(demo.id, 'home')}>
        {say('openDemo')}
      </a>
    );
  return (
    <button type="button" onClick={remove}>
      {say('removeDemo')}
    </button>
  );
}

function RemoveDemo({ id, onClose, onDone }: { id: number; onClose(): void; onDone(): void }) {
  const [isRunning, setRunning] = useState(false);
  const run = async () => {
    setRunning(true);
    const isDone = await attempt(() => api.deleteDeployment({ deploymentId: id }));
    setRunning(false);
    if (!isDone) return;
    forgetDeployment(id);
    onClose();
    onDone();
    invalidate('');
    toast(say('demoRemoved'));
  };
  return (
    <Dialog title={say('removeDemo')} onClose={onClose}>
      <p>{say('removeDemoHint')}</p>
      <div class="dialog-foot">
        <button type="button" onClick={onClose}>
          {sayAll('cancel')}
        </button>
        <button type="button" class="primary bad" disabled={isRunning} onClick={() => void run()}>
          {say('removeDemo')}
        </button>
      </div>
    </Dialog>
  );
}
