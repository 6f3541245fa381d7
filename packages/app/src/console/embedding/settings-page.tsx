/** What all embedded pages follow: where they may be shown, how they behave and look, and how much a tenant may have. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { problemOf } from '../../data/problem.ts';
import { Icon } from '../../parts/icons.tsx';
import { Failed, Skeleton, wordsOf } from '../../parts/states.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { CheckField, TextField } from '../parts/fields.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { checkHostPage, isGood } from './host-page.ts';
import { say } from './say.ts';
import { ThemeEditor } from './theme-editor.tsx';

export const texts = withShared(say);

type Settings = Awaited<ReturnType<typeof api.getTenantSettings>>;
type SettingsChange = Parameters<typeof api.updateTenantSettings>[0]['body'];
type Config = Awaited<ReturnType<typeof api.getAppConfig>>;

const SETTINGS = 'tenant-settings';
const CONFIG = 'app-config';

function EmbedSettings({ deploymentId }: ConsolePageProps) {
  const settings = useData(SETTINGS, (signal) => api.getTenantSettings({}, { signal }));
  const config = useData(CONFIG, (signal) => api.getAppConfig({}, { signal }));
  const problem = settings.problem ?? config.problem;
  if (!settings.data || !config.data)
    return problem ? <Failed problem={problem} retry={settings.reload} /> : <Skeleton />;
  return (
    <>
      <PageHead title={sayShared('embedSettings')} hint={say('settingsHint')} />
      <div class="console-cards wide">
        <Origins settings={settings.data} />
        <HostCheck settings={settings.data} />
        <Behaviour settings={settings.data} config={config.data} />
        <Limits settings={settings.data} />
      </div>
      <ThemeEditor deploymentId={deploymentId} config={config.data} onSaved={() => invalidate(CONFIG)} />
    </>
  );
}

async function saveSettings(body: SettingsChange) {
  const saved = await attempt(() => api.updateTenantSettings({ body }));
  if (saved) toast(sayShared('saved'));
  invalidate(SETTINGS);
  return saved !== undefined;
}

function Origins({ settings: { embedAllowedOrigins: origins } }: { settings: Settings }) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string>();
  const add = async () => {
    setError(undefined);
    try {
      await api.updateTenantSettings({ body: { embedAllowedOrigins: [...origins, text.trim()] } });
      setText('');
      invalidate(SETTINGS);
    } catch (failure) {
      const problem = problemOf(failure);
      const issue = problem.issues.find(({ path }) => path.startsWith('embedAllowedOrigins'));
      setError(issue ? say('originWrong') : wordsOf(problem));
    }
  };
  return (
    <section class="console-card form" aria-labelledby="origins">
      <h2 id="origins">{say('origins')}</h2>
      <p class="soft">{say(origins.length ? 'originsHint' : 'originsOpen')}</p>
      <ul class="origins">
        {origins.map((origin) => (
          <li key={origin}>
            <code class="grow">{origin}</code>
            <button
              type="button"
              class="icon"
              aria-label={`${sayShared('remove')}: ${origin}`}
              onClick={() =>
                void saveSettings({ embedAllowedOrigins: origins.filter((other) => other !== origin) })
              }
            >
              <Icon name="close" size={16} />
            </button>
          </li>
        ))}
      </ul>
      <form
        class="copy-field"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <TextField
          label={say('newOrigin')}
          required
          maxLength={300}
          value={text}
          onChange={setText}
          error={error}
          autocomplete="off"
        />
        <button type="submit">{say('add')}</button>
      </form>
    </section>
  );
}

function HostCheck({ settings }: { settings: Settings }) {
  const [address, setAddress] = useState('');
  const [html, setHtml] = useState('');
  const found = checkHostPage(
    { address, html },
    { origin: location.origin, allowedOrigins: settings.embedAllowedOrigins },
  );
  return (
    <section class="console-card form" aria-labelledby="host">
      <h2 id="host">{say('hostCheck')}</h2>
      <p class="soft">{say('hostCheckHint')}</p>
      <TextField label={say('hostAddress')} value={address} onChange={setAddress} autocomplete="off" />
      <TextField label={say('hostHtml')} rows={5} value={html} onChange={setHtml} />
      <ul class="findings" aria-live="polite">
        {found.map((finding) => (
          <li key={finding} class={isGood(finding) ? 'good' : 'bad'}>
            <Icon name={isGood(finding) ? 'check' : 'close'} size={16} />
            <span>{say(`host.${finding}`, { origin: location.origin })}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Behaviour({ settings, config }: { settings: Settings; config: Config }) {
  const embedding = config.embedding ?? {};
  const [locale, setLocale] = useState(embedding.locale ?? '');
  const [timezone, setTimezone] = useState(embedding.timezone ?? '');
  const [link, setLink] = useState(settings.notificationLinkTemplate ?? '');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const saveConfig = async (change: NonNullable<Config['embedding']>) => {
    await attempt(() => api.updateAppConfig({ body: { embedding: change } }));
    invalidate(CONFIG);
  };
  const save = async () => {
    setErrors({});
    try {
      await api.updateAppConfig({
        body: { embedding: { locale: locale || null, timezone: timezone || null } },
      });
      await api.updateTenantSettings({ body: { notificationLinkTemplate: link || null } });
      toast(sayShared('saved'));
    } catch (failure) {
      const problem = problemOf(failure);
      const byField = problem.issues.map(({ path, message }) => [path.split('.').at(-1)!, message] as const);
      if (byField.length) setErrors(Object.fromEntries(byField));
      else setErrors({ locale: wordsOf(problem) });
    }
    invalidate(SETTINGS);
    invalidate(CONFIG);
  };
  return (
    <section class="console-card form" aria-labelledby="behaviour">
      <h2 id="behaviour">{say('behaviour')}</h2>
      <CheckField
        label={say('chat')}
        isOn={embedding.showDashboardChat ?? true}
        onChange={(showDashboardChat) => void saveConfig({ showDashboardChat })}
      />
      {(['useCreatorMode', 'embedSql', 'embedWithoutPolicies'] as const).map((name) => (
        <CheckField
          key={name}
          label={say(name)}
          hint={say(`${name}Hint`)}
          isOn={settings[name]}
          onChange={(isOn) => void saveSettings({ [name]: isOn })}
        />
      ))}
      <form
        class="form-fields"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label={say('locale')}
          maxLength={100}
          value={locale}
          onChange={setLocale}
          error={errors.locale}
          hint={say('suchAs', { example: 'de-AT' })}
        />
        <TextField
          label={say('timezone')}
          maxLength={100}
          value={timezone}
          onChange={setTimezone}
          error={errors.timezone}
          hint={say('suchAs', { example: 'Europe/Vienna' })}
        />
        <TextField
          label={say('linkTemplate')}
          maxLength={1000}
          value={link}
          onChange={setLink}
          error={errors.notificationLinkTemplate}
          hint={say('linkTemplateHint', { example: 'https://app.example.com/{dashboardPublicId}' })}
        />
        <div class="buttons">
          <button type="submit">{sayShared('save')}</button>
        </div>
      </form>
    </section>
  );
}

const LIMITS = ['embedContentLimit', 'embedNotificationLimit', 'embedNotificationsPerHour'] as const;

function Limits({ settings }: { settings: Settings }) {
  const [texts, setTexts] = useState(() => LIMITS.map((name) => String(settings[name])));
  const [errors, setErrors] = useState<Record<string, string>>({});
  return (
    <section class="console-card form" aria-labelledby="limits">
      <h2 id="limits">{say('limits')}</h2>
      <form
        class="form-fields"
        onSubmit={async (event) => {
          event.preventDefault();
          setErrors({});
          const body = Object.fromEntries(LIMITS.map((name, i) => [name, Number(texts[i])]));
          try {
            await api.updateTenantSettings({ body });
            toast(sayShared('saved'));
          } catch (failure) {
            const { issues } = problemOf(failure);
            setErrors(Object.fromEntries(issues.map(({ path, message }) => [path, message])));
            if (issues.length === 0) toast(wordsOf(problemOf(failure)), { isProblem: true });
          }
          invalidate(SETTINGS);
        }}
      >
        {LIMITS.map((name, i) => (
          <TextField
            key={name}
            label={say(name)}
            type="number"
            required
            value={texts[i]!}
            error={errors[name]}
            onChange={(text) => setTexts(texts.map((other, place) => (place === i ? text : other)))}
          />
        ))}
        <div class="buttons">
          <button type="submit">{sayShared('save')}</button>
        </div>
      </form>
    </section>
  );
}

export default consolePage('adminEmbedding', EmbedSettings);
