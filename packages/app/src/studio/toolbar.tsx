/** Above the files: which branch, whether one may write, whether it builds, and what to do with the changes. */
import { useEffect, useState } from 'preact/hooks';
import { PageHead } from '../console/shell.tsx';
import { api } from '../data/api.ts';
import { askText } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { prefer, preference } from '../preferences.ts';
import { BuildState } from './builds.tsx';
import { openChanges } from './changes.tsx';
import { confirm } from './confirm.tsx';
import { openMerge } from './merge.tsx';
import { mayAsk, type StudioProps, type StudioView } from './props.ts';
import { openRename } from './rename.tsx';
import { say } from './say.ts';

const VIEWS: readonly StudioView[] = ['files', 'graph', 'playground', 'history'];

export function Toolbar(
  properties: StudioProps & { view: StudioView; setView(view: StudioView): void; save(): void },
) {
  const { studio, branches, may, goTo, view, setView, save } = properties;
  const { branch, deploymentId } = studio;
  const canWrite = may('SchemaUpdateDevBranches');
  const isDirty = studio.dirty.value.size > 0;
  const [hasChanges, setHasChanges] = useState(branch.hasUncommittedChanges);
  const saved = studio.saved.value;
  const [formats, setFormats] = useState(preference('formatOnSave') ?? true);
  useEffect(() => {
    if (studio.isReadOnly) return;
    void api
      .listBranches({ deploymentId, first: 1000 })
      .then(({ items }) =>
        setHasChanges(items.find(({ id }) => id === branch.id)?.hasUncommittedChanges ?? false),
      )
      .catch(() => {});
  }, [saved]);

  const startDevMode = () =>
    attempt(async () => {
      const body = branch.isDefault ? {} : { branchName: branch.name };
      const { branchName } = await api.startDevMode({ deploymentId, body });
      goTo(branchName ?? branch.name);
    });
  const items: (MenuItem | false)[] = [
    canWrite && {
      label: say('newBranch'),
      run: () =>
        askText({
          title: say('newBranch'),
          label: say('branchName'),
          action: say('create'),
          maxLength: 200,
          onAnswer: (name) =>
            attempt(async () => {
              await api.createBranch({ deploymentId, body: { name, from: branch.name, activate: true } });
              goTo(name);
            }),
        }),
    },
    !studio.isReadOnly && { label: say('renameMember'), run: () => openRename(studio) },
    !studio.isReadOnly && {
      label: say('formatOnSave'),
      isChosen: formats,
      run: () => {
        prefer({ formatOnSave: !formats });
        setFormats(!formats);
      },
    },
    !studio.isReadOnly && {
      label: say('discard'),
      isDangerous: true,
      begins: true,
      run: () =>
        confirm(say('discard'), say('discardHint'), async () => {
          studio.forgetDrafts();
          await api.discardChanges({ deploymentId, body: { branchName: branch.name } });
          goTo(branch.name);
          location.reload();
        }),
    },
    !studio.isReadOnly && {
      label: say('leaveDevMode'),
      run: () =>
        void attempt(async () => {
          await api.stopDevMode({ deploymentId });
          goTo(branches.find(({ isDefault }) => isDefault)!.name);
        }),
    },
    canWrite &&
      !branch.isDefault && {
        label: say('deleteBranch'),
        isDangerous: true,
        run: () =>
          confirm(say('deleteBranch'), say('deleteBranchHint', { name: branch.name }), async () => {
            studio.forgetDrafts();
            await api.deleteBranch({ deploymentId, branchName: branch.name, force: true });
            goTo(branches.find(({ isDefault }) => isDefault)!.name);
          }),
      },
  ];
  return (
    <>
      <PageHead title={say('title')}>
        <BuildState studio={studio} may={may} />
        {!studio.isReadOnly && (
          <>
            <button type="button" disabled={!isDirty || studio.isSaving.value} onClick={save}>
              {say('save')}
            </button>
            <button
              type="button"
              disabled={isDirty || !hasChanges}
              onClick={() => askForMessage(properties, () => setHasChanges(false))}
            >
              {say('commit')}
            </button>
            <button type="button" class="primary" disabled={isDirty} onClick={() => openMerge(properties)}>
              {say('merge')}
            </button>
          </>
        )}
        <Menu label={say('branchActions')} items={items.filter((item) => item !== false)}>
          <Icon name="more" />
        </Menu>
      </PageHead>
      <div class="studio-bar">
        <Menu
          class="quiet switcher"
          label={`${say('branch')}: ${branch.name}`}
          items={branches.map(({ name, isDefault }) => ({
            label: isDefault ? `${name} (${say('live')})` : name,
            isChosen: name === branch.name,
            run: () => goTo(name),
          }))}
        >
          <span>
            {branch.name}
            {branch.isDefault && ` (${say('live')})`}
          </span>
          <Icon name="down" size={16} />
        </Menu>
        <div class="studio-tabs" role="tablist" aria-label={say('title')}>
          {VIEWS.filter((one) => one !== 'playground' || mayAsk(branch, may)).map((one) => (
            <button
              key={one}
              type="button"
              role="tab"
              aria-selected={view === one}
              onClick={() => setView(one)}
            >
              {say(one)}
            </button>
          ))}
        </div>
        {!branch.isDefault && (
          <button type="button" class="quiet" onClick={() => openChanges(properties)}>
            {say('compare', { name: branch.parentBranch ?? '' })}
          </button>
        )}
      </div>
      {studio.isReadOnly && (
        <p class="studio-note">
          {say(branch.isDefault ? 'liveHint' : 'readOnlyHint')}{' '}
          {canWrite && (
            <button type="button" class="quiet" onClick={() => void startDevMode()}>
              {say('edit')}
            </button>
          )}
        </p>
      )}
    </>
  );
}

const askForMessage = ({ studio }: StudioProps, onDone: () => void) =>
  askText({
    title: say('commit'),
    label: say('message'),
    action: say('commit'),
    maxLength: 10_000,
    onAnswer: (message) =>
      attempt(async () => {
        const { deploymentId, branch } = studio;
        await api.commitChanges({ deploymentId, body: { branchName: branch.name, message } });
        onDone();
        toast(say('committed'));
      }),
  });
