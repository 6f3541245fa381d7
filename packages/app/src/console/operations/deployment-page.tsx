/** One deployment as its operator sees it: environments with their builds and tokens, variables, and the log. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { say as sayAll } from '../../texts/say.ts';
import { confirm } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { BuildsDialog } from './builds-dialog.tsx';
import { Tokens } from './environment-tokens.tsx';
import { LiveLog } from './live-log.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Status = Awaited<ReturnType<typeof api.buildStatus>>['status'];
const STATUS: Record<Status, () => string> = {
  built: () => say('build_built'),
  building: () => say('build_building'),
  warmup: () => say('build_building'),
  failed: () => say('build_failed'),
  cancelled: () => say('build_cancelled'),
  stopped: () => say('build_cancelled'),
  none: () => say('noBuilds'),
};

function Deployment({ deploymentId, rights }: ConsolePageProps) {
  const key = `d/${deploymentId}/operated`;
  const environments = useData(`${key}/environments`, async (signal) => {
    const { items } = await api.getDeploymentEnvironments({ deploymentId, first: 100 }, { signal });
    const builds = await Promise.all(
      items.map(({ branch }) =>
        branch
          ? api.buildStatus({ deploymentId, branchName: branch }, { signal }).catch(() => undefined)
          : undefined,
      ),
    );
    return { items: items.map((one, i) => ({ ...one, build: builds[i] })), hasMore: false };
  });
  const variables = useList(`${key}/variables`, (first, signal) =>
    api.getEnvVariables({ deploymentId, first }, { signal }),
  );
  const removeVariable = (name: string) =>
    confirm({
      title: say('removeVariable', { name }),
      hint: say('removeVariableHint'),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteEnvVariable({ deploymentId, name }));
        invalidate(key);
      },
    });
  return (
    <>
      <PageHead title={sayShared('thisDeployment')} hint={say('deploymentHint')} />
      <h2>{say('environments')}</h2>
      <Table
        label={say('environments')}
        loaded={environments}
        keyOf={({ id }) => id}
        empty={say('noEnvironments')}
        columns={[
          { title: say('branch'), cell: ({ branch }) => branch ?? '–' },
          {
            title: say('type'),
            cell: ({ type, user }) => [say(type), user].filter(Boolean).join(': '),
          },
          {
            title: say('build'),
            isWide: true,
            cell: ({ build }) =>
              build && [STATUS[build.status](), build.errorText].filter(Boolean).join(': '),
          },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ id, branch }) => (
              <>
                {branch && rights.may('SchemaRead') && (
                  <button
                    type="button"
                    onClick={() =>
                      openDialog((close) => (
                        <BuildsDialog
                          deploymentId={deploymentId}
                          branchName={branch}
                          mayBuild={rights.may('SchemaUpdate')}
                          onClose={close}
                        />
                      ))
                    }
                  >
                    {say('builds')}
                  </button>
                )}{' '}
                {rights.may('SchemaUpdate') && (
                  <button
                    type="button"
                    onClick={() =>
                      openDialog((close) => (
                        <Tokens
                          deploymentId={deploymentId}
                          environmentId={id}
                          branch={branch ?? id}
                          onClose={close}
                        />
                      ))
                    }
                  >
                    {say('tokens')}
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
      <div class="page-head next">
        <h2 class="grow">{say('variables')}</h2>
        <button
          type="button"
          onClick={() =>
            openDialog((close) => <SetVariable deploymentId={deploymentId} keyOfPage={key} onClose={close} />)
          }
        >
          {say('setVariable')}
        </button>
      </div>
      <Table
        label={say('variables')}
        loaded={variables}
        more={variables.more}
        keyOf={({ name }) => name}
        empty={say('noVariables')}
        emptyHint={say('noVariablesHint')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => <code>{name}</code> },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ name }) => (
              <button type="button" class="bad" onClick={() => removeVariable(name)}>
                {sayShared('remove')}
              </button>
            ),
          },
        ]}
      />
      <h2 class="next">{say('log')}</h2>
      <LiveLog deploymentId={deploymentId} />
    </>
  );
}

/** Write-only: a value that is stored is never shown here. */
function SetVariable({
  deploymentId,
  keyOfPage,
  onClose,
}: {
  deploymentId: number;
  keyOfPage: string;
  onClose(): void;
}) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  return (
    <Dialog title={say('setVariable')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { env_variables: [{ name: name.trim(), value }] };
          if (!(await attempt(() => api.setEnvVariables({ deploymentId, body })))) return;
          toast(sayShared('saved'));
          invalidate(keyOfPage);
          onClose();
        }}
      >
        <p class="soft">{say('variableHint')}</p>
        <TextField label={sayShared('name')} value={name} onChange={setName} required maxLength={255} />
        <TextField
          label={say('value')}
          type="password"
          autocomplete="off"
          value={value}
          onChange={setValue}
        />
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            {sayAll('cancel')}
          </button>
          <button type="submit" class="primary">
            {sayShared('save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export default consolePage('adminDeployment', Deployment);
