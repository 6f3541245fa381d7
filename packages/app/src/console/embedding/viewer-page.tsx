/** What one viewer sees and why not, in one answer, with what mends it in place. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Empty, Failed, Skeleton } from '../../parts/states.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { addressOf } from '../../place.ts';
import { CheckField, TextField } from '../parts/fields.tsx';
import { shownNumber, useFilters } from '../parts/lists.ts';
import { say as sayPeople } from '../people/say.ts';
import { shownValue, ValueField } from '../people/values-dialog.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';
import { TenantField } from './tenant-field.tsx';

export const texts = withShared(say, sayPeople);

type ViewerExplanation = Awaited<ReturnType<typeof api.explainViewer>>;
type Dashboard = ViewerExplanation['dashboards'][number];
type Reason = ViewerExplanation['reasons'][number];

/** The prefix of the cache keys. Saving a value invalidates keys of `values/`, and so these too. */
const KEY = 'values/explained/';

function ViewerPage({ deploymentId }: ConsolePageProps) {
  const [filters, change] = useFilters(['tenant', 'externalId', 'workbookId', 'creator'] as const);
  const [tenant, setTenant] = useState(filters.tenant ?? '');
  const [externalId, setExternalId] = useState(filters.externalId ?? '');
  const [isCreator, setCreator] = useState(filters.creator === 'yes');
  const workbookId = Number(filters.workbookId) || undefined;
  const isAsked = Boolean(filters.tenant && filters.externalId);
  const body = {
    embedTenantName: filters.tenant ?? '',
    externalId: filters.externalId ?? '',
    ...(filters.creator === 'yes' ? { creatorMode: true } : {}),
    ...(workbookId ? { workbookId } : {}),
  };
  const { data, problem, reload } = useData(
    isAsked ? `${KEY}${deploymentId}/${JSON.stringify(body)}` : null,
    (signal) => api.explainViewer({ deploymentId, body }, { signal }),
  );
  return (
    <>
      <PageHead title={sayShared('viewer')} hint={say('viewerHint')} />
      <form
        class="toolbar filters"
        onSubmit={(event) => {
          event.preventDefault();
          change({
            tenant: tenant.trim(),
            externalId: externalId.trim(),
            creator: isCreator ? 'yes' : '',
            workbookId: '',
          });
          invalidate(KEY);
        }}
      >
        <TenantField value={tenant} onChange={setTenant} />
        <TextField
          label={say('externalId')}
          required
          maxLength={255}
          value={externalId}
          onChange={setExternalId}
          autocomplete="off"
        />
        <CheckField label={say('creatorMode')} isOn={isCreator} onChange={setCreator} />
        <button type="submit" class="primary">
          {say('explain')}
        </button>
      </form>
      {!isAsked && <Empty title={say('nobodyAsked')} hint={say('nobodyAskedHint')} />}
      {isAsked && !data && (problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />)}
      {isAsked && data && <Answer deploymentId={deploymentId} explained={data} mayEdit={!body.creatorMode} />}
    </>
  );
}

function Answer({
  deploymentId,
  explained,
  mayEdit,
}: {
  deploymentId: number;
  explained: ViewerExplanation;
  mayEdit: boolean;
}) {
  const { viewer, reasons, dashboards, isComplete } = explained;
  const seen = dashboards.filter(({ isSeen }) => isSeen).length;
  const sessions = `${addressOf(deploymentId, 'adminSessions')}?${new URLSearchParams({
    tenant: viewer.embedTenantName,
    externalId: viewer.externalId,
  })}`;
  return (
    <div class="explained">
      <section class="console-card" aria-labelledby="who">
        <h2 id="who">{viewer.externalId}</h2>
        <dl class="facts">
          <dt>{say('tenant')}</dt>
          <dd>{viewer.embedTenantName}</dd>
          <dt>{sayShared('groups')}</dt>
          <dd>
            {[...viewer.groups, ...viewer.tenantGroups.map((name) => `tenant:${name}`)].join(', ') ||
              sayShared('none')}
          </dd>
          <dt>{sayShared('sessions')}</dt>
          <dd>
            <a href={sessions}>{say('liveSessions', { count: viewer.liveSessions })}</a>
          </dd>
        </dl>
        {reasons.map((reason) => (
          <p key={reason.code} class="bad">
            {say(`why.${reason.code}`, wordsIn(reason))}
          </p>
        ))}
        <h3>{sayShared('attributes')}</h3>
        {viewer.userAttributes.length === 0 && <p class="soft">{sayShared('none')}</p>}
        {viewer.id !== null && mayEdit ? (
          <>
            {viewer.userAttributes.map(({ value, source, ...attribute }) => (
              <ValueField
                key={`${attribute.id} ${JSON.stringify(value)} ${source}`}
                userId={viewer.id!}
                attribute={{ ...attribute, defaultValue: source === 'default' ? value : undefined }}
                value={source === 'stored' ? shownValue(value) : ''}
              />
            ))}
            <p class="soft note">{say('valueStays')}</p>
          </>
        ) : (
          <dl class="facts">
            {viewer.userAttributes.flatMap(({ id, name, value }) => [
              <dt key={`${id} name`}>{name}</dt>,
              <dd key={id}>{shownValue(value) || say('noValue')}</dd>,
            ])}
          </dl>
        )}
      </section>
      <section aria-labelledby="dashboards">
        <h2 id="dashboards">
          {say('seesOf', { seen: shownNumber(seen), all: shownNumber(dashboards.length) })}
        </h2>
        {!isComplete && <p class="soft">{say('notComplete')}</p>}
        {dashboards.length === 0 && <Empty title={say('noDashboards')} />}
        <ul class="verdicts">
          {dashboards.map((dashboard) => (
            <Verdict
              key={dashboard.workbookId}
              deploymentId={deploymentId}
              tenant={viewer.embedTenantName}
              dashboard={dashboard}
            />
          ))}
        </ul>
      </section>
    </div>
  );
}

function Verdict({
  deploymentId,
  tenant,
  dashboard,
}: {
  deploymentId: number;
  tenant: string;
  dashboard: Dashboard;
}) {
  const { workbookId, name, isSeen, rows, reasons } = dashboard;
  const isGood = isSeen && rows !== 'none';
  // Several charts and cubes may say the same.
  const sentences = new Map(reasons.map((reason) => [sentenceOf(reason), reason]));
  return (
    <li class="console-card">
      <div class="verdict-head">
        <h3>{name}</h3>
        <span class={isGood ? 'mark added' : 'mark removed'}>
          {isSeen ? say(`rows.${rows}`) : say('notSeen')}
        </span>
      </div>
      <ul>
        {[...sentences].map(([sentence, reason]) => (
          <li key={sentence}>
            <p>{sentence}</p>
            <Mend deploymentId={deploymentId} workbookId={workbookId} tenant={tenant} reason={reason} />
          </li>
        ))}
      </ul>
    </li>
  );
}

const wordsIn = ({ cube = '', attribute = '', groups = [], members = [], values = [], message }: Reason) => ({
  cube,
  attribute,
  message,
  groups: groups.join(', '),
  members: members.join(', '),
  values: values.map(String).join(', '),
});

/** A value that is missing is an attribute of the viewer, or of the security context of the session. */
const sentenceOf = (reason: Reason) =>
  reason.code === 'attribute_missing' && !reason.attribute
    ? say('contextMissing', wordsIn(reason))
    : say(`why.${reason.code}`, wordsIn(reason));

/** What mends it: here, or on the page that can. */
function Mend({
  deploymentId,
  workbookId,
  tenant,
  reason,
}: {
  deploymentId: number;
  workbookId: number;
  tenant: string;
  reason: Reason;
}) {
  const open = async (body: Parameters<typeof api.updateEmbedAccess>[0]['body']) => {
    if (!(await attempt(() => api.updateEmbedAccess({ deploymentId, workbookId, body })))) return;
    toast(sayShared('saved'));
    invalidate(KEY);
  };
  switch (reason.code) {
    case 'not_published':
      return (
        <a class="button" href={addressOf(deploymentId, 'dashboard', { workbookId })}>
          {say('toDashboard')}
        </a>
      );
    case 'embedding_off':
      return (
        <button type="button" onClick={() => void open({ allowEmbed: true })}>
          {say('allowEmbed')}
        </button>
      );
    case 'no_access_entry':
    case 'access_refused':
      return (
        <button type="button" onClick={() => void open({ embedTenantName: tenant, action: 'read' })}>
          {say('giveAccess', { tenant })}
        </button>
      );
    case 'cube_closed':
    case 'no_policy_matches':
    case 'members_hidden':
      return (
        <p class="buttons">
          <a class="button" href={addressOf(deploymentId, 'adminPolicies')}>
            {sayShared('policies')}
          </a>
          <a class="button" href={addressOf(deploymentId, 'adminModels')}>
            {sayShared('models')}
          </a>
        </p>
      );
    case 'attribute_missing':
      return reason.attribute ? (
        <button
          type="button"
          onClick={() => {
            const field = document.querySelector<HTMLInputElement>(
              `.explained [data-attribute="${CSS.escape(reason.attribute!)}"] input`,
            );
            field?.focus();
          }}
        >
          {say('setValue', { attribute: reason.attribute })}
        </button>
      ) : null;
    default:
      return null;
  }
}

export default consolePage('adminViewer', ViewerPage);
