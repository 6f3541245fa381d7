/** How to show a dashboard in another product: who may see it, a viewer to try it with, and the code to paste. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { problemOf } from '../data/problem.ts';
import { useMe } from '../frame/account.ts';
import type { PageProps } from '../page-props.ts';
import { Failed, Skeleton, wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { say as sayAll } from '../texts/say.ts';
import { Access } from './access.tsx';
import { backendSamples, pageSamples, type Sample } from './samples.ts';
import { say } from './say.ts';
import { badLine, bodyOf, EXAMPLE, mintSession, type ViewerForm } from './viewer.ts';

export const texts = say;

export default function EmbedPage({ params }: PageProps) {
  const where = { deploymentId: Number(params.deploymentId), workbookId: Number(params.workbookId) };
  const {
    data: workbook,
    problem,
    reload,
  } = useData(`d/${where.deploymentId}/workbook/${where.workbookId}/embed`, (signal) =>
    api.getWorkbook(where, { signal }),
  );
  const accessKey = `d/${where.deploymentId}/embed-access/${where.workbookId}`;
  const access = useData(accessKey, (signal) => api.getEmbedAccess(where, { signal }));
  // Only admins read the settings of the account.
  const { data: origins } = useData('embed-origins', (signal) =>
    api.getTenantSettings({}, { signal }).then(
      ({ embedAllowedOrigins }) => embedAllowedOrigins,
      () => undefined,
    ),
  );
  const { data: me } = useMe();
  const [viewer, setViewer] = useState<ViewerForm>(EXAMPLE);
  const [tried, setTried] = useState<TriedViewer>();
  const rows = useRowsOf(where, tried);
  useEffect(() => {
    if (workbook) document.title = `${say('title', { name: workbook.name })} · ${sayAll('appName')}`;
  }, [workbook?.name]);
  if (!workbook || !access.data) {
    const failed = problem ?? access.problem;
    return failed ? <Failed problem={failed} retry={problem ? reload : access.reload} /> : <Skeleton />;
  }
  const publicId = workbook.publishedDashboard?.publicId;
  const body = bodyOf(where.deploymentId, viewer);
  const missing = whatIsMissing(access.data, publicId, viewer.embedTenantName.trim());
  const isOpen = origins?.length === 0;
  const names = { element: say('element'), react: say('react') };
  return (
    <>
      <div class="page-head">
        <div class="grow">
          <nav class="path" aria-label={say('back')}>
            <a href={addressOf(where.deploymentId, 'workbook', { workbookId: where.workbookId })}>
              {workbook.name}
            </a>
          </nav>
          <h1>{say('title', { name: workbook.name })}</h1>
        </div>
      </div>
      <div class="embed-page">
        <div class="embed-side">
          <Access where={where} access={access.data} onChange={() => invalidate(accessKey)} />
          <section class="card-section" aria-labelledby="missing">
            <h2 id="missing">{say('missing')}</h2>
            {missing.length || isOpen || rows ? (
              <ul>
                {missing.map((text) => (
                  <li key={text}>{text}</li>
                ))}
                {isOpen && (
                  <li>
                    {say('noOrigins')}{' '}
                    <a href={addressOf(where.deploymentId, 'adminEmbedding')}>{say('nameOrigins')}</a>
                  </li>
                )}
                {rows && tried && (
                  <li>
                    {say(rows === 'none' ? 'rowsNone' : 'rowsSome', { name: tried.externalId })}{' '}
                    <a href={whyAddress(where, tried)}>{say('why')}</a>
                  </li>
                )}
              </ul>
            ) : (
              <p>{say('nothingMissing')}</p>
            )}
            <p class="soft">{say('noPolicies')}</p>
          </section>
          <Viewer viewer={viewer} onChange={setViewer} />
        </div>
        <Preview
          publicId={publicId}
          body={body}
          bad={badLine(viewer.attributes)}
          onShown={() =>
            setTried({ externalId: body.externalId, tenant: body.embedTenantName, at: Date.now() })
          }
        />
      </div>
      <section aria-labelledby="code">
        <h2 id="code">{say('code')}</h2>
        <div class="embed-code">
          <Samples
            title={say('backend')}
            hint={say('backendHint')}
            samples={backendSamples(location.origin, body)}
          >
            {me?.isAdmin && <a href={addressOf(where.deploymentId, 'adminApiKeys')}>{say('makeKey')}</a>}
          </Samples>
          {publicId && (
            <Samples
              title={say('page')}
              hint={say('pageHint')}
              samples={pageSamples(location.origin, publicId, names)}
            />
          )}
        </div>
      </section>
    </>
  );
}

interface WorkbookKey {
  deploymentId: number;
  workbookId: number;
}

/** The viewer who was shown last, whom the server knows since then. */
interface TriedViewer {
  externalId: string;
  tenant: string | undefined;
  at: number;
}

/** Whether policies leave that viewer no rows, in all charts or in some. Only admins may ask. */
function useRowsOf({ deploymentId, workbookId }: WorkbookKey, tried: TriedViewer | undefined) {
  const { data: me } = useMe();
  const key = tried?.tenant && me?.isAdmin ? `embed-rows/${workbookId}/${JSON.stringify(tried)}` : null;
  const { data } = useData(key, (signal) => {
    const { externalId, tenant } = tried!;
    const body = { externalId, embedTenantName: tenant!, workbookId };
    return api.explainViewer({ deploymentId, body }, { signal });
  });
  const found = data?.dashboards[0];
  return found?.isSeen && (found.rows === 'none' || found.rows === 'some') ? found.rows : undefined;
}

const whyAddress = ({ deploymentId, workbookId }: WorkbookKey, { externalId, tenant = '' }: TriedViewer) =>
  `${addressOf(deploymentId, 'adminViewer')}?${new URLSearchParams({ tenant, externalId, workbookId: String(workbookId) })}`;

type EmbedAccess = Awaited<ReturnType<typeof api.getEmbedAccess>>;

function whatIsMissing(
  { allowEmbed, allEmbedUsers, tenants }: EmbedAccess,
  publicId: string | undefined,
  tenant: string,
): string[] {
  const own = tenants.find(({ embedTenantName }) => embedTenantName === tenant);
  const action = own?.action ?? (allEmbedUsers.enabled ? allEmbedUsers.action : 'none');
  return [
    !publicId && say('notPublished'),
    !allowEmbed && say('notAllowed'),
    allowEmbed && action !== 'read' && say('noAccess', { name: tenant }),
  ].filter((text) => text !== false);
}

function Viewer({ viewer, onChange }: { viewer: ViewerForm; onChange(viewer: ViewerForm): void }) {
  const change =
    (name: keyof ViewerForm) => (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange({ ...viewer, [name]: event.currentTarget.value });
  const line = badLine(viewer.attributes);
  return (
    <section class="card-section" aria-labelledby="viewer">
      <h2 id="viewer">{say('viewer')}</h2>
      <p class="soft">{say('viewerHint')}</p>
      {(['externalId', 'embedTenantName', 'displayName', 'groups'] as const).map((name) => (
        <label key={name} class="field">
          <span>{say(name === 'embedTenantName' ? 'tenantName' : name)}</span>
          <input value={viewer[name]} maxLength={255} autocomplete="off" onInput={change(name)} />
        </label>
      ))}
      <label class="field">
        <span>{say('attributes')}</span>
        <textarea
          rows={3}
          value={viewer.attributes}
          aria-invalid={line !== undefined}
          spellcheck={false}
          onInput={change('attributes')}
        />
        {line !== undefined && <span class="bad">{say('attributesBad', { line })}</span>}
      </label>
    </section>
  );
}

function Preview(given: {
  publicId: string | undefined;
  body: ReturnType<typeof bodyOf>;
  bad: number | undefined;
  onShown(): void;
}) {
  const { publicId, body, onShown } = given;
  const [shown, setShown] = useState<{ session: string; name: string }>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const show = async () => {
    setBusy(true);
    setError('');
    try {
      setShown({ session: await mintSession(body), name: body.externalId });
      onShown();
    } catch (failure) {
      setShown(undefined);
      setError(wordsOf(problemOf(failure)));
    }
    setBusy(false);
  };
  return (
    <section class="embed-preview" aria-label={say('preview', { name: body.externalId })}>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={!publicId || isBusy || !body.externalId || given.bad !== undefined}
          onClick={() => void show()}
        >
          {say(isBusy ? 'showing' : 'show')}
        </button>
      </div>
      {error && (
        <p class="bad" role="alert">
          {error}
        </p>
      )}
      {shown && publicId ? (
        <iframe
          key={shown.session}
          title={say('preview', { name: shown.name })}
          src={`/embed/dashboard/${encodeURIComponent(publicId)}#session=${shown.session}`}
        />
      ) : (
        <p class="soft embed-empty">{say(publicId ? 'previewEmpty' : 'notPublished')}</p>
      )}
    </section>
  );
}

interface SamplesProps {
  title: string;
  hint: string;
  samples: Sample[];
  /** What follows the hint in its paragraph. */
  children?: ComponentChildren;
}

function Samples({ title, hint, samples, children }: SamplesProps) {
  const [chosen, choose] = useState(samples[0]!.id);
  const sample = samples.find(({ id }) => id === chosen) ?? samples[0]!;
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(sample.code);
      toast(say('copied'));
    });
  return (
    <section class="card-section" aria-label={title}>
      <h3>{title}</h3>
      <p class="soft">
        {hint} {children}
      </p>
      <div class="buttons" role="group" aria-label={title}>
        {samples.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            class="quiet"
            aria-pressed={id === sample.id}
            onClick={() => choose(id)}
          >
            {name}
          </button>
        ))}
        <button type="button" onClick={() => void copy()}>
          {say('copy')}
        </button>
      </div>
      <pre tabIndex={0}>
        <code>{sample.code}</code>
      </pre>
    </section>
  );
}
