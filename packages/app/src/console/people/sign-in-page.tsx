/** SCIM and OpenID Connect: the exact values to paste at the provider, and a test of what it would send. */
import { useState } from 'preact/hooks';
import { attempt, toast } from '../../parts/toasts.tsx';
import { CopyField } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

const SETTINGS = `ORIEL_OIDC_ISSUER=https://…
ORIEL_OIDC_CLIENT_ID=…
ORIEL_OIDC_CLIENT_SECRET=…`;

/** With the token only, and without the cookie of this page, as the provider asks. */
async function askScim(base: string, token: string): Promise<number> {
  const response = await fetch(`${base}/Users?count=1`, {
    credentials: 'omit',
    headers: { authorization: `Bearer ${token.trim()}`, accept: 'application/scim+json' },
  });
  const reply = (await response.json()) as { totalResults?: number; detail?: string };
  if (!response.ok || reply.totalResults === undefined) throw new Error(reply.detail ?? response.statusText);
  return reply.totalResults;
}

function SignInSetUp() {
  const origin = location.origin;
  const base = `${origin}/api/scim/v2`;
  const [token, setToken] = useState('');
  const [error, setError] = useState<string>();
  return (
    <>
      <PageHead title={sayShared('signInSetUp')} hint={say('setUpHint')} />
      <div class="console-cards wide">
        <section class="console-card form">
          <h2>{say('scimTitle')}</h2>
          <CopyField label={say('scimUrl')} value={base} />
          <CopyField label={say('uniqueField')} value="userName" />
          <CopyField label={say('authMode')} value="HTTP Header" />
          <p>{say('scimToken')}</p>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              setError(undefined);
              void attempt(() =>
                askScim(base, token).then(
                  (count) => toast(say('scimWorks', { count })),
                  (refused: Error) => setError(refused.message),
                ),
              );
            }}
          >
            <TextField
              label={say('token')}
              type="password"
              autocomplete="off"
              required
              value={token}
              onChange={setToken}
              error={error}
            />
            <div class="buttons next">
              <button type="submit">{say('testScim')}</button>
            </div>
          </form>
        </section>
        <section class="console-card form">
          <h2>{say('oidcTitle')}</h2>
          <CopyField label={say('redirectUrl')} value={`${origin}/sign-in/provider/callback`} />
          <CopyField label={say('signOutUrl')} value={`${origin}/sign-in`} />
          <p>{say('oidcSettings')}</p>
          <pre class="console-code" tabIndex={0}>
            {SETTINGS}
          </pre>
        </section>
      </div>
    </>
  );
}

export default consolePage('adminSignIn', SignInSetUp);
