/** SCIM at Okta and at Entra ID: a token, what to paste beside which name of theirs, and a test that reads and writes. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { useMe } from '../../frame/account.ts';
import { attempt } from '../../parts/toasts.tsx';
import { CopyField } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { useFilters } from '../parts/lists.ts';
import { UserField } from '../parts/user-field.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';
import { PROVIDERS } from './scim-providers.ts';
import { testScim } from './scim-test.ts';
import { Choice, Step } from './set-up-parts.tsx';

const BASE = '/api/scim/v2';

export function ScimSetUp() {
  const base = location.origin + BASE;
  const [{ scim }, change] = useFilters(['scim'] as const);
  const name = scim === 'entra' ? 'entra' : 'okta';
  const provider = PROVIDERS[name];
  const [token, setToken] = useState('');
  const values: Record<string, string> = { base, token: token.trim() || say('tokenAbove') };
  return (
    <section class="console-card form">
      <h2>{say('scimTitle')}</h2>
      <Choice
        label={say('provider')}
        value={name}
        options={PROVIDERS}
        onChange={(next) => change({ scim: next })}
      />
      <Step title={`1. ${say('makeToken')}`}>
        <MakeToken title={provider.title} onMade={setToken} />
      </Step>
      <Step title={`2. ${say('pasteAt', { name: provider.title })}`}>
        <p class="soft">{provider.place}</p>
        {provider.fields.map(([label, value]) => (
          <CopyField key={label} label={label} value={values[value] ?? value} />
        ))}
        <dl class="facts">
          {provider.choices.map(([label, value]) => (
            <>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      </Step>
      <Step title={`3. ${say('mapAttributes')}`}>
        <p class="soft">{say(name === 'okta' ? 'mapHintOkta' : 'mapHintEntra')}</p>
        <div class="console-table" role="region" aria-label={say('mapAttributes')} tabIndex={0}>
          <table class="items">
            <thead>
              <tr>
                <th scope="col">{provider.title}</th>
                <th scope="col">SCIM</th>
                <th scope="col">Oriel</th>
              </tr>
            </thead>
            <tbody>
              {provider.mapping.map(([theirs, attribute, ours]) => (
                <tr key={attribute}>
                  <td>
                    <code>{theirs}</code>
                  </td>
                  <td>
                    <code>{attribute}</code>
                  </td>
                  <td>{say(ours)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Step>
      <Step title={`4. ${say('testScim')}`}>
        <TestScim base={base} token={token} onToken={setToken} />
      </Step>
    </section>
  );
}

function MakeToken({ title, onMade }: { title: string; onMade(key: string): void }) {
  const { data: me } = useMe();
  const [owner, setOwner] = useState('');
  const [made, setMade] = useState('');
  return (
    <form
      class="step"
      onSubmit={async (event) => {
        event.preventDefault();
        // No deployments: a key that is scoped to some can read by SCIM, but not write.
        const body = { name: `SCIM: ${title}`, ...(Number(owner) ? { userId: Number(owner) } : {}) };
        const key = await attempt(() => api.createApiKey({ body }));
        if (!key) return;
        invalidate('api-keys/');
        setMade(key.key);
        onMade(key.key);
      }}
    >
      <UserField
        label={say('tokenOwner')}
        hint={say('tokenOwnerHint')}
        value={owner || String(me?.id ?? '')}
        onChange={setOwner}
      />
      <div class="buttons">
        <button type="submit" class="primary">
          {say('makeToken')}
        </button>
      </div>
      {made && (
        <div role="status">
          <p>{sayShared('shownOnce')}</p>
          <CopyField label={say('token')} value={made} />
        </div>
      )}
    </form>
  );
}

function TestScim({ base, token, onToken }: { base: string; token: string; onToken(token: string): void }) {
  const [result, setResult] = useState<{ isGood: boolean; text: string }>();
  const [isBusy, setBusy] = useState(false);
  return (
    <form
      class="step"
      onSubmit={async (event) => {
        event.preventDefault();
        setBusy(true);
        setResult(undefined);
        const { step, count, detail } = await testScim(base, token.trim());
        setBusy(false);
        setResult(
          step === 'done'
            ? { isGood: true, text: say('scimWorks', { count }) }
            : { isGood: false, text: `${say(step === 'read' ? 'scimNotRead' : 'scimNotWritten')} ${detail}` },
        );
      }}
    >
      <p class="soft">{say('testScimHint')}</p>
      <TextField
        label={say('testToken')}
        type="password"
        autocomplete="off"
        required
        value={token}
        onChange={onToken}
      />
      <div class="buttons">
        <button type="submit" disabled={isBusy}>
          {say('testScim')}
        </button>
      </div>
      <p role="status" class={result?.isGood === false ? 'bad' : undefined}>
        {result?.text}
      </p>
    </form>
  );
}
