/** Sign-in with OpenID Connect: what to register at each provider, the settings that follow, and a test of those in use. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { attempt } from '../../parts/toasts.tsx';
import { CopyField } from '../parts/confirm.tsx';
import { useFilters } from '../parts/lists.ts';
import { say } from './say.ts';
import { Choice, Step } from './set-up-parts.tsx';

type TestResult = Awaited<ReturnType<typeof api.testSignInProvider>>;

/** The names of what to choose there are those of the providers' own pages. */
const PROVIDERS = {
  okta: {
    title: 'Okta',
    kind: 'OIDC - OpenID Connect › Web Application › Authorization Code',
    issuer: 'https://{domain}.okta.com',
    claims: 'Sign On › OpenID Connect ID Token › Groups claim: groups',
    more: [
      'ORIEL_OIDC_SCOPE="openid profile email groups"',
      'ORIEL_OIDC_GROUPS_CLAIM=groups',
      'ORIEL_OIDC_EXTERNAL_ID_CLAIM=sub',
    ],
    note: 'oidcOkta',
  },
  entra: {
    title: 'Microsoft Entra ID',
    kind: 'App registrations › Authentication › Web',
    issuer: 'https://login.microsoftonline.com/{tenant id}/v2.0',
    claims: 'Token configuration › Optional claims › ID: email, groups',
    more: ['ORIEL_OIDC_GROUPS_CLAIM=groups', 'ORIEL_OIDC_EXTERNAL_ID_CLAIM=oid'],
    note: 'oidcEntra',
  },
  google: {
    title: 'Google',
    kind: 'Google Auth Platform › Clients › Web application',
    issuer: 'https://accounts.google.com',
    claims: 'openid, profile, email',
    more: [],
    note: 'oidcGoogle',
  },
  keycloak: {
    title: 'Keycloak',
    kind: 'Clients › OpenID Connect › Client authentication: On · Standard flow',
    issuer: 'https://{host}/realms/{realm}',
    claims: 'Client scopes › Mapper “Group Membership”: groups, Full group path: Off',
    more: ['ORIEL_OIDC_GROUPS_CLAIM=groups', 'ORIEL_OIDC_EXTERNAL_ID_CLAIM=sub'],
    note: 'oidcKeycloak',
  },
} as const;
type Name = keyof typeof PROVIDERS;

export function OidcSetUp() {
  const [{ oidc }, change] = useFilters(['oidc'] as const);
  const name: Name = oidc && oidc in PROVIDERS ? (oidc as Name) : 'okta';
  const { title, kind, issuer, claims, more, note } = PROVIDERS[name];
  const { origin } = location;
  const settings = [
    `ORIEL_PUBLIC_URL=${origin}`,
    `ORIEL_OIDC_ISSUER=${issuer}`,
    'ORIEL_OIDC_CLIENT_ID=…',
    'ORIEL_OIDC_CLIENT_SECRET=…',
    `ORIEL_OIDC_NAME="${title}"`,
    ...more,
  ].join('\n');
  return (
    <section class="console-card form">
      <h2>{say('oidcTitle')}</h2>
      <Choice
        label={say('provider')}
        value={name}
        options={PROVIDERS}
        onChange={(next) => change({ oidc: next })}
      />
      <Step title={`1. ${say('pasteAt', { name: title })}`}>
        <p class="soft">{kind}</p>
        <CopyField label={say('redirectUrl')} value={`${origin}/sign-in/provider/callback`} />
        {name !== 'google' && <CopyField label={say('signOutUrl')} value={`${origin}/sign-in`} />}
        <dl class="facts">
          <dt>{say('issuer')}</dt>
          <dd>
            <code>{issuer}</code>
          </dd>
          <dt>{say('claims')}</dt>
          <dd>{claims}</dd>
        </dl>
        <p>{say(note)}</p>
      </Step>
      <Step title={`2. ${say('setAtServer')}`}>
        <p class="soft">{say('oidcSettings')}</p>
        <pre class="console-code" tabIndex={0}>
          {settings}
        </pre>
      </Step>
      <Step title={`3. ${say('testOidc')}`}>
        <TestProvider />
      </Step>
    </section>
  );
}

function TestProvider() {
  const [tested, setTested] = useState<TestResult>();
  const [isBusy, setBusy] = useState(false);
  const isElsewhere = tested && !tested.redirectUri.startsWith(`${location.origin}/`);
  return (
    <>
      <p class="soft">{say('testOidcHint')}</p>
      <div class="buttons">
        <button
          type="button"
          disabled={isBusy}
          onClick={async () => {
            setBusy(true);
            setTested(await attempt(() => api.testSignInProvider()));
            setBusy(false);
          }}
        >
          {say('testOidc')}
        </button>
      </div>
      <div role="status">
        {tested && (
          <>
            <p class={tested.code === 'works' ? undefined : 'bad'}>
              {say(`oidc_${tested.code}`, { issuer: tested.issuer ?? '' })}
            </p>
            {tested.check && (
              <p>
                {say('checkSettings')} <code>{tested.check}</code>
              </p>
            )}
            {tested.reason && <p class="soft">{tested.reason}</p>}
            {isElsewhere && <p class="bad">{say('otherAddress', { address: tested.redirectUri })}</p>}
          </>
        )}
      </div>
    </>
  );
}
