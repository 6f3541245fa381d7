/** The repository that the data model is one with, and the git hosts that are connected. */
import { OrielError } from '@oriel/client';
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { Empty, Failed, Skeleton } from '../../parts/states.tsx';
import { attempt, toast, toastProblem } from '../../parts/toasts.tsx';
import { confirm, showOnce } from '../parts/confirm.tsx';
import { CheckField, FilterChoice, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { shownTime } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

const HOSTS = 'git-hosts';
type Host = Awaited<ReturnType<typeof api.installations>>['data'][number];
const connectionKey = (deploymentId: number) => `d/${deploymentId}/git`;

/** Nothing if the deployment is not connected. */
const findConnection = (deploymentId: number, signal: AbortSignal) =>
  api.getGitHostConnection({ deploymentId }, { signal }).catch((error: unknown) => {
    if (error instanceof OrielError && error.code === 'not_connected') return null;
    throw error;
  });

function Git({ deploymentId, rights }: ConsolePageProps) {
  return (
    <>
      <PageHead title={sayShared('git')} hint={say('gitHint')} />
      <Repository deploymentId={deploymentId} rights={rights} />
      {rights.may('DeploymentsManage') && <Hosts />}
    </>
  );
}

function Repository({ deploymentId, rights }: ConsolePageProps) {
  const key = connectionKey(deploymentId);
  const { data, problem, reload } = useData(key, (signal) => findConnection(deploymentId, signal));
  const mayManage = rights.may('DeploymentsManage');
  if (data === undefined)
    return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />;
  if (data === null)
    return (
      <Empty title={say('notConnected')} hint={say('notConnectedHint')}>
        {mayManage && (
          <button
            type="button"
            class="primary"
            onClick={() => openDialog((close) => <Connect deploymentId={deploymentId} onClose={close} />)}
          >
            {say('connect')}
          </button>
        )}
      </Empty>
    );
  const pull = async () => {
    try {
      const { buildTriggered } = await api.pull({ deploymentId });
      toast(say(buildTriggered ? 'pulled' : 'nothingNew'));
    } catch (error) {
      const isRewritten = error instanceof OrielError && error.code === 'git_history_rewritten';
      if (isRewritten && mayManage)
        openDialog((close) => (
          <TakeHistory deploymentId={deploymentId} message={error.message} onClose={close} />
        ));
      else toastProblem(error);
    }
    invalidate(`d/${deploymentId}/`);
  };
  const disconnect = () =>
    confirm({
      title: say('disconnectIt', { name: data.repository }),
      hint: say('disconnectHint'),
      action: say('disconnect'),
      run: async () => {
        await attempt(() => api.deleteGitHostConnection({ deploymentId }));
        invalidate(key);
      },
    });
  const makeSecret = () =>
    confirm({
      title: say('newSecret'),
      hint: say('newSecretHint', { address: data.webhookUrl }),
      action: say('newSecret'),
      run: async () => {
        const made = await attempt(() => api.rotateGitHostWebhookSecret({ deploymentId }));
        if (made) showOnce(say('newSecret'), say('secret'), made.secret);
      },
    });
  return (
    <section class="console-card">
      <h2>{data.repository}</h2>
      <dl class="facts next">
        <dt>{say('state')}</dt>
        <dd>{say(data.state)}</dd>
        {data.message && (
          <>
            <dt>{say('problem')}</dt>
            <dd class="bad">{data.message}</dd>
          </>
        )}
        <dt>{say('checked')}</dt>
        <dd>{shownTime(data.checkedAt)}</dd>
        <dt>{say('address')}</dt>
        <dd>{data.url}</dd>
        <dt>{say('webhookAddress')}</dt>
        <dd>{data.webhookUrl}</dd>
      </dl>
      <div class="toolbar next">
        {rights.may('SchemaUpdateDevBranches') && (
          <button type="button" class="primary" onClick={() => void pull()}>
            {say('pull')}
          </button>
        )}
        {mayManage && (
          <>
            <button type="button" onClick={makeSecret}>
              {say('newSecret')}
            </button>
            <button type="button" class="bad" onClick={disconnect}>
              {say('disconnect')}
            </button>
          </>
        )}
      </div>
    </section>
  );
}

/** Takes over a history. The commit must be typed, so that a click alone does not do it. */
function TakeHistory({
  deploymentId,
  message,
  onClose,
}: {
  deploymentId: number;
  message: string;
  onClose(): void;
}) {
  const [commit, setCommit] = useState('');
  return (
    <Dialog title={say('replaced')} onClose={onClose}>
      <form
        class="console-form"
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { acceptRewritten: commit.trim() };
          if (!(await attempt(() => api.pull({ deploymentId, body })))) return;
          invalidate(`d/${deploymentId}/`);
          onClose();
        }}
      >
        <p class="console-code">{message}</p>
        <TextField label={say('commit')} required maxLength={40} value={commit} onChange={setCommit} />
        <Foot onClose={onClose} action={say('takeHistory')} />
      </form>
    </Dialog>
  );
}

function Connect({ deploymentId, onClose }: { deploymentId: number; onClose(): void }) {
  const { data: hosts, problem } = useData(HOSTS, (signal) => api.installations({}, { signal }));
  const [chosen, setChosen] = useState('');
  const [name, setName] = useState('');
  const [isNew, setIsNew] = useState(false);
  const [branch, setBranch] = useState('');
  const [root, setRoot] = useState('');
  const installation = chosen || hosts?.data[0]?.installationId || '';
  const { data: known } = useData(installation ? `${HOSTS}/${installation}/repositories` : null, (signal) =>
    api.repositories({ installationId: Number(installation) }, { signal }),
  );
  if (!hosts)
    return (
      <Dialog title={say('connect')} onClose={onClose}>
        {problem ? <Failed problem={problem} /> : <Skeleton lines={3} />}
      </Dialog>
    );
  if (!hosts.data.length)
    return (
      <Dialog title={say('connect')} onClose={onClose}>
        <p>{say('hostFirst')}</p>
      </Dialog>
    );
  return (
    <Dialog title={say('connect')} onClose={onClose}>
      <form
        class="console-form"
        onSubmit={async (event) => {
          event.preventDefault();
          const body = {
            installationId: Number(installation),
            name: name.trim(),
            isNewRepo: isNew,
            ...(branch.trim() && { deployBranchName: branch.trim() }),
            ...(root.trim() && { deployProjectRoot: root.trim() }),
          };
          if (!(await attempt(() => api.connect({ deploymentId, body })))) return;
          invalidate(`d/${deploymentId}/`);
          onClose();
        }}
      >
        <FilterChoice
          label={say('host')}
          value={installation}
          onChange={setChosen}
          options={hosts.data.map(({ installationId, login, kind }) => ({
            value: installationId,
            label: `${login} (${kind})`,
          }))}
        />
        <div class="field">
          <label for="git-repository">{say('repository')}</label>
          <input
            id="git-repository"
            list="git-repositories"
            required
            maxLength={500}
            placeholder="acme/model"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <datalist id="git-repositories">
            {known?.data.map((one) => (
              <option key={one.name} value={one.name} />
            ))}
          </datalist>
        </div>
        <CheckField label={say('isNew')} hint={say('isNewHint')} isOn={isNew} onChange={setIsNew} />
        <TextField
          label={say('deployBranch')}
          hint={say('deployBranchHint')}
          maxLength={200}
          value={branch}
          onChange={setBranch}
        />
        <TextField
          label={say('projectRoot')}
          hint={say('projectRootHint')}
          maxLength={500}
          value={root}
          onChange={setRoot}
        />
        <Foot onClose={onClose} action={say('connect')} />
      </form>
    </Dialog>
  );
}

function Hosts() {
  const loaded = useData(`${HOSTS}/list`, async (signal) => ({
    items: (await api.installations({}, { signal })).data,
    hasMore: false,
  }));
  const remove = (installationId: number, name: string) =>
    confirm({
      title: say('removeIt', { name }),
      hint: say('removeHostHint'),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteGitHostInstallation({ installationId }));
        invalidate(HOSTS);
      },
    });
  const test = (installationId: number) =>
    attempt(async () => {
      const { works, message } = await api.testGitHostInstallation({ installationId });
      toast(message, { isProblem: !works });
    });
  return (
    <>
      <div class="page-head next">
        <h2 class="grow">{say('hosts')}</h2>
        <button type="button" onClick={() => openDialog((close) => <EditHost onClose={close} />)}>
          {say('addHost')}
        </button>
      </div>
      <Table
        label={say('hosts')}
        loaded={loaded}
        keyOf={({ id }) => id}
        empty={say('noHosts')}
        columns={[
          { title: sayShared('name'), cell: ({ login }) => login },
          { title: say('kind'), isWide: true, cell: ({ kind }) => kind },
          { title: say('address'), isWide: true, cell: ({ url }) => url },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (host) => (
              <div class="buttons">
                <button
                  type="button"
                  aria-label={`${say('test')}: ${host.login}`}
                  onClick={() => void test(Number(host.installationId))}
                >
                  {say('test')}
                </button>
                {host.kind !== 'github_app' && (
                  <>
                    <button
                      type="button"
                      aria-label={`${sayShared('edit')}: ${host.login}`}
                      onClick={() => openDialog((close) => <EditHost host={host} onClose={close} />)}
                    >
                      {sayShared('edit')}
                    </button>
                    <button
                      type="button"
                      class="bad"
                      aria-label={`${sayShared('remove')}: ${host.login}`}
                      onClick={() => remove(Number(host.installationId), host.login)}
                    >
                      {sayShared('remove')}
                    </button>
                  </>
                )}
              </div>
            ),
          },
        ]}
      />
    </>
  );
}

const KINDS = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea, Forgejo',
  bitbucket: 'Bitbucket',
  git: 'git',
};

/** A new host, or another name, user or token of one. A token goes only to the address that it was given for. */
function EditHost({ host, onClose }: { host?: Host; onClose(): void }) {
  const [name, setName] = useState(host?.login ?? '');
  const [kind, setKind] = useState<keyof typeof KINDS>('github');
  const [url, setUrl] = useState('');
  const [username, setUsername] = useState(host?.username ?? '');
  const [token, setToken] = useState('');
  const save = () => {
    const body = { name: name.trim(), username: username.trim() || null };
    return host
      ? api.updateGitHostInstallation({
          installationId: Number(host.installationId),
          body: { ...body, ...(token && { token }) },
        })
      : api.createGitHostInstallation({
          body: { ...body, kind, token, ...(url.trim() && { url: url.trim() }) },
        });
  };
  return (
    <Dialog title={host?.login ?? say('addHost')} onClose={onClose}>
      <form
        class="console-form"
        onSubmit={async (event) => {
          event.preventDefault();
          if (!(await attempt(save))) return;
          toast(sayShared('saved'));
          invalidate(HOSTS);
          onClose();
        }}
      >
        <TextField label={sayShared('name')} required maxLength={255} value={name} onChange={setName} />
        {!host && (
          <>
            <FilterChoice
              label={say('kind')}
              value={kind}
              onChange={(value) => setKind(value as keyof typeof KINDS)}
              options={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
            />
            <TextField
              label={say('address')}
              hint={say('hostAddressHint')}
              type="url"
              required={kind === 'gitea' || kind === 'git'}
              maxLength={2048}
              value={url}
              onChange={setUrl}
            />
          </>
        )}
        <TextField
          label={say('username')}
          hint={say('usernameHint')}
          autocomplete="off"
          maxLength={255}
          value={username}
          onChange={setUsername}
        />
        <TextField
          label={say('token')}
          hint={say(host ? 'staysHint' : 'tokenHint')}
          type="password"
          autocomplete="off"
          required={!host}
          maxLength={4096}
          value={token}
          onChange={setToken}
        />
        <Foot onClose={onClose} action={sayShared(host ? 'save' : 'create')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminGit', Git);
