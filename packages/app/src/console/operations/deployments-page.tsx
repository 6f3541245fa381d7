/** All deployments: made, renamed and deleted. What one of them is about is on its own page. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { forgetDeployment } from '../../frame/account.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { addressOf } from '../../place.ts';
import { CheckField, FilterChoice, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Deployment = Awaited<ReturnType<typeof api.getDeployments>>['items'][number];
/** The keys of both lists of deployments begin with it: of this one, and of the one at the top of the page. */
const KEY = 'deployment';

function Deployments({ deploymentId }: ConsolePageProps) {
  const { route } = useLocation();
  const list = useList(`${KEY}-list`, async (first, signal) => {
    const { items, pageInfo } = await api.getDeployments({ first }, { signal });
    return { items, pageInfo: pageInfo ?? { hasNextPage: false } };
  });
  return (
    <>
      <PageHead title={sayShared('deployments')} hint={say('deploymentsHint')}>
        <button
          type="button"
          class="primary"
          onClick={() =>
            openDialog((close) => (
              <NewDeployment onClose={close} onDone={(id) => route(addressOf(id, 'home'))} />
            ))
          }
        >
          {say('newDeployment')}
        </button>
      </PageHead>
      <Table<Deployment>
        label={sayShared('deployments')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={sayShared('none')}
        columns={[
          {
            title: sayShared('name'),
            cell: ({ id, name }) => <a href={addressOf(id, 'adminDeployment')}>{name}</a>,
          },
          { title: say('address'), isWide: true, cell: ({ deploymentUrl }) => deploymentUrl },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (one) => (
              <>
                <button
                  type="button"
                  onClick={() => openDialog((close) => <Settings id={one.id} onClose={close} />)}
                >
                  {sayShared('edit')}
                </button>{' '}
                <button
                  type="button"
                  class="bad"
                  onClick={() =>
                    openDialog((close) => (
                      <Remove
                        deployment={one}
                        onClose={close}
                        onDone={() => {
                          if (one.id === deploymentId) route('/');
                        }}
                      />
                    ))
                  }
                >
                  {sayShared('remove')}
                </button>
              </>
            ),
          },
        ]}
      />
    </>
  );
}

function NewDeployment({ onClose, onDone }: { onClose(): void; onDone(id: number): void }) {
  const [name, setName] = useState('');
  const [chosen, choose] = useState('');
  const { data: regions = [] } = useData(
    'regions',
    async (signal) => (await api.listRegions({}, { signal })).items,
  );
  const region = chosen || regions[0]?.name;
  return (
    <Dialog title={say('newDeployment')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (!region) return;
          const made = await attempt(() =>
            api.createDeployment({
              body: {
                name: name.trim(),
                region,
                cloudProvider: 'managed',
                creationStep: 'ready',
                isManaged: true,
                targetPlatform: 'embedded',
              },
            }),
          );
          if (!made) return;
          invalidate(KEY);
          onClose();
          onDone(made.id);
        }}
      >
        <TextField label={sayShared('name')} required maxLength={255} value={name} onChange={setName} />
        {regions.length > 1 && (
          <FilterChoice
            label={say('region')}
            value={region ?? ''}
            onChange={choose}
            options={regions.map((one) => ({ value: one.name, label: one.title ?? one.name }))}
          />
        )}
        <Foot onClose={onClose} action={sayShared('create')} />
      </form>
    </Dialog>
  );
}

function Settings({ id, onClose }: { id: number; onClose(): void }) {
  const { data } = useData(`d/${id}/settings`, (signal) =>
    api.getDeploymentSettings({ deploymentId: id }, { signal }),
  );
  return (
    <Dialog title={data?.name ?? sayShared('edit')} onClose={onClose}>
      {data && <SettingsForm settings={data} onClose={onClose} />}
    </Dialog>
  );
}

function SettingsForm({
  settings,
  onClose,
}: {
  settings: Awaited<ReturnType<typeof api.getDeploymentSettings>>;
  onClose(): void;
}) {
  const [name, setName] = useState(settings.name);
  const [deployBranchName, setBranch] = useState(settings.deployBranchName);
  const [deployProjectRoot, setRoot] = useState(settings.deployProjectRoot);
  const [deployBranchReadOnly, setReadOnly] = useState(settings.deployBranchReadOnly);
  return (
    <form
      onSubmit={async (event) => {
        event.preventDefault();
        const now = { name: name.trim(), deployBranchName, deployProjectRoot, deployBranchReadOnly };
        // Only what was changed is sent: some of it asks for what another change may forbid.
        const body = Object.fromEntries(
          Object.entries(now).filter(([field, value]) => settings[field as keyof typeof now] !== value),
        );
        const { id: deploymentId } = settings;
        if (!(await attempt(() => api.updateDeployment({ deploymentId, body })))) return;
        toast(sayShared('saved'));
        invalidate(KEY);
        invalidate(`d/${deploymentId}/`);
        onClose();
      }}
    >
      <TextField label={sayShared('name')} required maxLength={255} value={name} onChange={setName} />
      <TextField
        label={say('deployBranch')}
        hint={say('deployBranchHint')}
        required
        maxLength={200}
        value={deployBranchName}
        onChange={setBranch}
      />
      <TextField label={say('projectRoot')} maxLength={255} value={deployProjectRoot} onChange={setRoot} />
      <CheckField label={say('readOnlyBranch')} isOn={deployBranchReadOnly} onChange={setReadOnly} />
      <Foot onClose={onClose} action={sayShared('save')} />
    </form>
  );
}

/** It takes everything along, so its name has to be typed. */
function Remove({
  deployment: { id, name },
  onClose,
  onDone,
}: {
  deployment: Deployment;
  onClose(): void;
  onDone(): void;
}) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  return (
    <Dialog title={say('removeVariable', { name })} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (typed.trim() !== name.trim()) return setError(say('otherName'));
          if (!(await attempt(() => api.deleteDeployment({ deploymentId: id })))) return;
          forgetDeployment(id);
          invalidate(KEY);
          onClose();
          onDone();
        }}
      >
        <p>{say('removeDeploymentHint')}</p>
        <TextField
          label={say('typeName', { name })}
          autocomplete="off"
          value={typed}
          onChange={(text) => {
            setTyped(text);
            setError(undefined);
          }}
          error={error}
        />
        <Foot onClose={onClose} action={sayShared('remove')} isDangerous />
      </form>
    </Dialog>
  );
}

export default consolePage('adminDeployments', Deployments);
