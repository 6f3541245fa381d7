/** Services at which people allow this server to act for them. Each connects on their account page. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { problemOf } from '../../data/problem.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { wordsOf } from '../../parts/states.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

const KEY = 'oauth-integrations/';
type Service = Awaited<ReturnType<typeof api.listOAuthIntegrations>>[number];

function Services() {
  const list = useList(`${KEY}list`, async (_first, signal) => ({
    items: await api.listOAuthIntegrations({}, { signal }),
    pageInfo: { hasNextPage: false },
  }));
  const edit = (service?: Service) =>
    openDialog((close) => <EditService service={service} onClose={close} />);
  const remove = ({ id, name }: Service) =>
    confirm({
      title: say('removeIt', { name }),
      hint: say('removeServiceHint'),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteOAuthIntegration({ id }));
        invalidate(KEY);
      },
    });
  return (
    <>
      <PageHead title={sayShared('services')} hint={say('servicesHint')}>
        <button type="button" class="primary" onClick={() => edit()}>
          {say('addService')}
        </button>
      </PageHead>
      <Table<Service>
        label={sayShared('services')}
        loaded={list}
        keyOf={({ id }) => id}
        empty={say('noServices')}
        emptyHint={say('noServicesHint')}
        columns={[
          { title: say('number'), isNumber: true, cell: ({ id }) => id },
          { title: sayShared('name'), cell: ({ name }) => name },
          { title: say('serviceHost'), isWide: true, cell: ({ authUrl }) => new URL(authUrl).host },
          {
            title: say('tokenHosts'),
            isWide: true,
            cell: ({ config }) => config?.hosts?.join(', ') || sayShared('none'),
          },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (service) => (
              <>
                <button
                  type="button"
                  aria-label={`${sayShared('edit')}: ${service.name}`}
                  onClick={() => edit(service)}
                >
                  {sayShared('edit')}
                </button>{' '}
                <button
                  type="button"
                  class="bad"
                  aria-label={`${sayShared('remove')}: ${service.name}`}
                  onClick={() => remove(service)}
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

/** The field that a refusal without a path is about. */
const FIELD_OF: Record<string, string> = {
  oauth_integration_name_taken: 'name',
  oauth_redirect_uri_not_ours: 'redirectUri',
  oauth_redirect_uri_taken: 'redirectUri',
  oauth_secret_required: 'clientSecret',
};

const slugOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
const wordsIn = (text: string) => text.split(/[\s,]+/).filter(Boolean);

function EditService({ service, onClose }: { service: Service | undefined; onClose(): void }) {
  const [name, setName] = useState(service?.name ?? '');
  const [redirect, setRedirect] = useState(service?.redirectUri);
  const [authUrl, setAuthUrl] = useState(service?.authUrl ?? '');
  const [tokenUrl, setTokenUrl] = useState(service?.tokenUrl ?? '');
  const [revocationUrl, setRevocation] = useState(service?.config?.revocationUrl ?? '');
  const [clientId, setClientId] = useState(service?.clientId ?? '');
  const [clientSecret, setSecret] = useState('');
  const [scopes, setScopes] = useState((service?.scopes ?? []).join(' '));
  const [hosts, setHosts] = useState((service?.config?.hosts ?? []).join(' '));
  const [errors, setErrors] = useState<Record<string, string>>({});
  // The redirect follows the name until the admin types one.
  const redirectUri = redirect ?? `${location.origin}/oauth/callback/${slugOf(name)}`;
  const save = async () => {
    setErrors({});
    const { revocationUrl: _, hosts: __, ...kept } = service?.config ?? {};
    const body = {
      name: name.trim(),
      type: service?.type ?? 'generic',
      redirectUri: redirectUri.trim(),
      authUrl: authUrl.trim(),
      tokenUrl: tokenUrl.trim(),
      clientId: clientId.trim(),
      scopes: wordsIn(scopes),
      config: {
        ...kept,
        ...(revocationUrl.trim() && { revocationUrl: revocationUrl.trim() }),
        hosts: wordsIn(hosts),
      },
    };
    try {
      await (service
        ? api.updateOAuthIntegration({
            id: service.id,
            body: { ...body, ...(clientSecret && { clientSecret }) },
          })
        : api.createOAuthIntegration({ body: { ...body, clientSecret } }));
    } catch (failure) {
      const problem = problemOf(failure);
      const field = FIELD_OF[problem.code];
      if (field) return setErrors({ [field]: problem.message });
      // `config.hosts[0]` is the field `hosts`.
      const byField = problem.issues.map(({ path, message }) => [
        path.replace(/^config\./, '').replace(/\W.*$/, ''),
        message,
      ]);
      if (byField.length) return setErrors(Object.fromEntries(byField));
      return toast(wordsOf(problem), { isProblem: true });
    }
    toast(sayShared('saved'));
    invalidate(KEY);
    onClose();
  };
  const address = { type: 'url', maxLength: 2048 } as const;
  return (
    <Dialog title={service?.name ?? say('addService')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label={sayShared('name')}
          required
          maxLength={255}
          value={name}
          onChange={setName}
          error={errors.name}
        />
        <TextField
          {...address}
          label={say('redirectUri')}
          hint={say('redirectUriHint')}
          required
          value={redirectUri}
          onChange={setRedirect}
          error={errors.redirectUri}
        />
        <TextField
          {...address}
          label={say('authUrl')}
          hint={say('authUrlHint')}
          required
          value={authUrl}
          onChange={setAuthUrl}
          error={errors.authUrl}
        />
        <TextField
          {...address}
          label={say('tokenUrl')}
          required
          value={tokenUrl}
          onChange={setTokenUrl}
          error={errors.tokenUrl}
        />
        <TextField
          {...address}
          label={say('revocationUrl')}
          hint={say('revocationUrlHint')}
          value={revocationUrl}
          onChange={setRevocation}
          error={errors.revocationUrl}
        />
        <TextField
          label={say('clientId')}
          required
          maxLength={512}
          value={clientId}
          onChange={setClientId}
          error={errors.clientId}
          autocomplete="off"
        />
        <TextField
          label={say('clientSecret')}
          hint={say(service ? 'secretKept' : 'tokenHint')}
          type="password"
          required={!service}
          maxLength={4096}
          value={clientSecret}
          onChange={setSecret}
          error={errors.clientSecret}
          autocomplete="new-password"
        />
        <TextField
          label={say('scopes')}
          hint={say('bySpaces')}
          value={scopes}
          onChange={setScopes}
          error={errors.scopes}
        />
        <TextField
          label={say('tokenHosts')}
          hint={say('hostsHint')}
          value={hosts}
          onChange={setHosts}
          error={errors.hosts}
        />
        <Foot onClose={onClose} action={sayShared(service ? 'save' : 'create')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminServices', Services);
