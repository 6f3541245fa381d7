/** The theme of embedded pages, tried on a real dashboard before it is saved. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { type Scheme, tokensOf } from '../../design.ts';
import { isPublished } from '../../home/items.ts';
import { attempt, toast } from '../../parts/toasts.tsx';
import { CheckField, FilterChoice } from '../parts/fields.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';

type Config = Awaited<ReturnType<typeof api.getAppConfig>>;
type Theme = NonNullable<Config['appTheme']>;
const COLORS = ['accentColor', 'backgroundColor', 'foregroundColor'] as const;

const own = (scheme: Scheme): Theme[Scheme] => {
  const { accent, background, ink } = tokensOf(scheme, []);
  return {
    accentColor: accent,
    backgroundColor: background,
    foregroundColor: ink,
    contrast: 50,
    logoUrl: '',
  };
};

export function ThemeEditor({
  deploymentId,
  config,
  onSaved,
}: {
  deploymentId: number;
  config: Config;
  onSaved(): void;
}) {
  const [theme, setTheme] = useState<Theme>(
    () => config.appTheme ?? { light: own('light'), dark: own('dark') },
  );
  const [scheme, setScheme] = useState<Scheme>('light');
  const [isGlobal, setGlobal] = useState(config.applyThemeGlobally);
  const [chosen, choose] = useState('');
  const frame = useRef<HTMLIFrameElement>(null);
  const { data: dashboards = [] } = useData(`d/${deploymentId}/published`, async (signal) => {
    const { items } = await api.getWorkbooks({ deploymentId, first: 200 }, { signal });
    return items.filter(isPublished).map(({ id, name }) => ({ value: String(id), label: name }));
  });
  const shown = chosen || dashboards[0]?.value;
  // Lists of workbooks do not hold it.
  const { data: publicId } = useData(shown ? `d/${deploymentId}/published/${shown}` : null, (signal) =>
    api
      .getWorkbook({ deploymentId, workbookId: Number(shown) }, { signal })
      .then(({ publishedDashboard }) => publishedDashboard?.publicId),
  );
  const paint = () => {
    const send = (type: string, payload: object) =>
      frame.current?.contentWindow?.postMessage(
        { source: 'oriel-embed', direction: 'action', type, payload, timestamp: Date.now() },
        location.origin,
      );
    send('oriel:action:set-color-scheme', { scheme });
    const { accentColor, backgroundColor } = theme[scheme];
    send('oriel:action:set-theme', { primaryColor: accentColor, backgroundColor });
  };
  useEffect(paint, [theme, scheme]);
  useEffect(() => {
    const listen = (event: MessageEvent) => {
      if (event.source === frame.current?.contentWindow && event.data?.type === 'oriel:event:ready') paint();
    };
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  });
  const save = async (appTheme: Theme | null) => {
    const saved = await attempt(() =>
      api.updateAppConfig({ body: { appTheme, applyThemeGlobally: isGlobal } }),
    );
    if (!saved) return;
    toast(sayShared('saved'));
    if (appTheme === null) setTheme({ light: own('light'), dark: own('dark') });
    onSaved();
  };
  return (
    <section class="theme-editor" aria-labelledby="theme">
      <form
        class="console-card form"
        onSubmit={(event) => {
          event.preventDefault();
          void save(theme);
        }}
      >
        <h2 id="theme">{say('theme')}</h2>
        <p class="soft">{say('themeHint')}</p>
        <FilterChoice
          label={say('scheme')}
          value={scheme}
          onChange={(value) => setScheme(value as Scheme)}
          options={(['light', 'dark'] as const).map((one) => ({ value: one, label: say(one) }))}
        />
        {COLORS.map((name) => (
          <label key={name} class="color-field">
            <input
              type="color"
              value={theme[scheme][name]}
              onInput={(event) =>
                setTheme({ ...theme, [scheme]: { ...theme[scheme], [name]: event.currentTarget.value } })
              }
            />
            <span>{say(name)}</span>
            <code>{theme[scheme][name]}</code>
          </label>
        ))}
        <CheckField label={say('applyGlobally')} isOn={isGlobal} onChange={setGlobal} />
        <div class="buttons">
          <button type="submit" class="primary">
            {sayShared('save')}
          </button>
          {config.appTheme && (
            <button type="button" onClick={() => void save(null)}>
              {say('noTheme')}
            </button>
          )}
        </div>
      </form>
      <div class="theme-preview">
        {shown ? (
          <>
            <FilterChoice label={say('previewOf')} value={shown} onChange={choose} options={dashboards} />
            {publicId && (
              <iframe
                key={publicId}
                ref={frame}
                title={say('themePreview')}
                src={`/embed/dashboard/${encodeURIComponent(publicId)}`}
              />
            )}
          </>
        ) : (
          <p class="soft">{say('noDashboards')}</p>
        )}
      </div>
    </section>
  );
}
