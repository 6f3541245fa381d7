/** How a data source is reached. Its variables are stored; its password is written and never read. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate } from '../data/cache.ts';
import { problemOf } from '../data/problem.ts';
import { wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { confirm } from '../studio/confirm.tsx';
import { say } from './say.ts';
import {
  FIELDS,
  type Field,
  KINDS,
  type Kind,
  leftOver,
  PORTS,
  type Source,
  variablesFor,
} from './variables.ts';

type TestResult = Awaited<ReturnType<typeof api.testDataSource>>;

export function SourceForm({
  deploymentId,
  source,
  mayChange,
  mayTest,
  onSaved,
}: {
  deploymentId: number;
  source: Source;
  mayChange: boolean;
  mayTest: boolean;
  onSaved(name: string): void;
}) {
  const isNew = source.name === '';
  const [name, setName] = useState(source.name);
  const [kind, setKind] = useState<Kind>(source.kind);
  const [values, setValues] = useState(source.values);
  const [password, setPassword] = useState('');
  const [tested, setTested] = useState<TestResult>();
  const [isBusy, setBusy] = useState(false);
  const test = async (of: string) => {
    if (!mayTest) return;
    setBusy(true);
    try {
      setTested(await api.testDataSource({ deploymentId, name: of }));
    } catch (error) {
      setTested({ isReachable: false, message: wordsOf(problemOf(error)) });
    } finally {
      setBusy(false);
    }
  };
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const of = name.trim().toLowerCase() || 'default';
    void attempt(async () => {
      const env_variables = variablesFor(of, kind, values, password);
      await api.setEnvVariables({ deploymentId, body: { env_variables } });
      // What the kind before had, and what was emptied, must not describe the source any more.
      for (const variable of leftOver(source, env_variables))
        await api.deleteEnvVariable({ deploymentId, name: variable });
      setPassword('');
      invalidate(`d/${deploymentId}/tables`);
      await test(of);
      onSaved(of);
    });
  };
  const remove = () =>
    confirm(say('removeSource'), say('removeSourceHint', { name: source.name }), async () => {
      for (const variable of source.variables) await api.deleteEnvVariable({ deploymentId, name: variable });
      invalidate(`d/${deploymentId}/tables`);
      toast(say('sourceRemoved', { name: source.name }));
      onSaved('default');
    });
  const set = (field: Field, value: string) => setValues({ ...values, [field]: value });
  return (
    <form class="source-form" onSubmit={save}>
      <fieldset disabled={!mayChange || isBusy}>
        <legend class="hidden">{say('connection')}</legend>
        {isNew && (
          <label class="field">
            <span>{say('name')}</span>
            <input
              required
              pattern="[A-Za-z][A-Za-z0-9_]*"
              maxLength={100}
              value={name}
              placeholder="warehouse"
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        )}
        <label class="field">
          <span>{say('kind')}</span>
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {say(one)}
              </option>
            ))}
          </select>
        </label>
        {kind === 'duckdb' && <p class="soft">{say('duckdbHint', { folder: `files/${deploymentId}` })}</p>}
        {kind !== 'duckdb' && (
          <>
            {FIELDS.filter((field) => field !== 'DB_SSL').map((field) => (
              <label key={field} class="field">
                <span>{say(field)}</span>
                <input
                  required={field === 'DB_HOST' || field === 'DB_NAME'}
                  value={values[field] ?? ''}
                  placeholder={field === 'DB_PORT' ? PORTS[kind] : ''}
                  inputMode={field === 'DB_PORT' ? 'numeric' : 'text'}
                  autocomplete="off"
                  onInput={(event) => set(field, event.currentTarget.value)}
                />
              </label>
            ))}
            <label class="field">
              <span>{say('password')}</span>
              <input
                type="password"
                value={password}
                autocomplete="new-password"
                placeholder={source.hasPassword ? say('passwordKept') : ''}
                onInput={(event) => setPassword(event.currentTarget.value)}
              />
            </label>
            <label class="field">
              <span>{say('DB_SSL')}</span>
              <select
                value={values.DB_SSL || 'true'}
                onChange={(event) => set('DB_SSL', event.currentTarget.value)}
              >
                <option value="true">{say('sslChecked')}</option>
                <option value="no-verify">{say('sslUnchecked')}</option>
                <option value="false">{say('sslOff')}</option>
              </select>
            </label>
          </>
        )}
      </fieldset>
      <div class="buttons">
        {mayChange && (
          <button type="submit" class="primary" disabled={isBusy}>
            {say(mayTest ? 'saveAndTest' : 'save')}
          </button>
        )}
        {mayTest && !isNew && (
          <button type="button" disabled={isBusy} onClick={() => void test(source.name)}>
            {say('test')}
          </button>
        )}
        {mayChange && source.variables.length > 0 && (
          <button type="button" disabled={isBusy} onClick={remove}>
            {say('removeSource')}
          </button>
        )}
      </div>
      {tested && (
        <div role="status">
          {tested.isReachable || !tested.reason ? (
            <p class={tested.isReachable ? 'good' : 'bad'}>{tested.message}</p>
          ) : (
            <>
              <p class="bad">{say(`why_${tested.reason}`)}</p>
              <p>{say(`do_${tested.reason}`)}</p>
              <details>
                <summary>{say('detail')}</summary>
                <p class="soft">{tested.message}</p>
              </details>
            </>
          )}
        </div>
      )}
    </form>
  );
}
