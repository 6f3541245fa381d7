/** What minting a session would do: the body of `generate-session` as a form, each error beside its field, and the outcome in words. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { problemOf } from '../../data/problem.ts';
import { asBackend } from '../../embedding/viewer.ts';
import { wordsOf } from '../../parts/states.tsx';
import { CheckField, FilterChoice, TextField } from '../parts/fields.tsx';
import { shownValue } from '../people/values-dialog.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { type Attribute, type Form, requestOf } from './dry-run-request.ts';
import { say } from './say.ts';
import { TenantField } from './tenant-field.tsx';

export const texts = withShared(say);

type DryRun = Awaited<ReturnType<typeof api.dryRunSession>>;
type Failure = { path: string; message: string };

const EMPTY: Form = {
  tenant: '',
  kind: 'external',
  id: '',
  groups: '',
  tenantGroups: '',
  isCreator: false,
  attributes: {},
  securityContext: '',
  definitions: '',
};

function DryRunPage({ deploymentId }: ConsolePageProps) {
  const [form, setForm] = useState<Form>(EMPTY);
  const [result, setResult] = useState<DryRun>();
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const [sent, setSent] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const { data: attributes = [] } = useData(
    'user-attributes/dry-run',
    async (signal) => (await api.getUserAttributes({ first: 200 }, { signal })).items,
  );
  const set = (change: Partial<Form>) => setForm({ ...form, ...change });

  async function run() {
    const { body, names, problems } = requestOf(form, attributes, say('notJson'));
    setSent(names);
    setResult(undefined);
    if (problems.length) return setFailures(problems);
    setBusy(true);
    try {
      const reply = await asBackend(deploymentId, (backend) =>
        backend.dryRunSession({ body: { ...body, deploymentId } as never }),
      );
      setResult(reply);
      setFailures(reply.errors);
    } catch (error) {
      const problem = problemOf(error);
      setFailures(problem.issues.length ? problem.issues : [{ path: '', message: wordsOf(problem) }]);
    }
    setBusy(false);
  }

  const used = new Set<Failure>();
  /** The errors of a field: those at its path, or below it. */
  const errorAt = (...paths: string[]) => {
    const mine = failures.filter(({ path }) =>
      paths.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one}[`)),
    );
    for (const failure of mine) used.add(failure);
    return mine.length ? [...new Set(mine.map(({ message }) => message))].join(' ') : undefined;
  };
  const fields = (
    <>
      <TenantField
        isOptional
        value={form.tenant}
        onChange={(tenant) => set({ tenant })}
        error={errorAt('embedTenantName')}
      />
      <FilterChoice
        label={say('identity')}
        value={form.kind}
        onChange={(kind) => set({ kind: kind as Form['kind'] })}
        options={[
          { value: 'external', label: say('externalId') },
          { value: 'internal', label: say('internalId') },
        ]}
      />
      <TextField
        label={say(form.kind === 'external' ? 'externalId' : 'internalId')}
        maxLength={255}
        value={form.id}
        onChange={(id) => set({ id })}
        error={errorAt('externalId', 'internalId')}
        autocomplete="off"
      />
      <CheckField
        label={say('creatorMode')}
        isOn={form.isCreator}
        onChange={(isCreator) => set({ isCreator })}
        hint={errorAt('creatorMode')}
      />
      <TextField
        label={say('groupsList')}
        value={form.groups}
        onChange={(groups) => set({ groups })}
        error={errorAt('groups')}
        autocomplete="off"
      />
      {form.isCreator && (
        <TextField
          label={say('tenantGroupsList')}
          value={form.tenantGroups}
          onChange={(tenantGroups) => set({ tenantGroups })}
          error={errorAt('tenantGroups')}
          autocomplete="off"
        />
      )}
      <fieldset class="choices">
        <legend>{sayShared('attributes')}</legend>
        {attributes.length === 0 && <p class="soft">{sayShared('none')}</p>}
        {attributes.map((attribute) => (
          <AttributeField
            key={attribute.id}
            attribute={attribute}
            value={form.attributes[attribute.name] ?? ''}
            error={
              sent.includes(attribute.name)
                ? errorAt(
                    `userAttributes[${sent.indexOf(attribute.name)}]`,
                    `userAttributes.${attribute.name}`,
                  )
                : undefined
            }
            onChange={(value) => set({ attributes: { ...form.attributes, [attribute.name]: value } })}
          />
        ))}
      </fieldset>
      <TextField
        label={say('securityContext')}
        rows={3}
        value={form.securityContext}
        onChange={(securityContext) => set({ securityContext })}
        error={errorAt('securityContext')}
        hint={say('jsonHint')}
      />
      <TextField
        label={say('definitions')}
        rows={3}
        value={form.definitions}
        onChange={(definitions) => set({ definitions })}
        error={errorAt(
          'definitions',
          'userAttributeDefinitions',
          'groupDefinitions',
          'tenantGroupDefinitions',
          'embedTenantProfile',
          'userProfile',
          'email',
          'settings',
          'embedTheme',
        )}
        hint={say('definitionsHint')}
      />
    </>
  );
  const elsewhere = failures.filter((failure) => !used.has(failure));
  return (
    <>
      <PageHead title={sayShared('dryRun')} hint={say('dryRunHint')} />
      <div class="embed-page">
        <form
          class="console-card form"
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
        >
          {fields}
          <div class="buttons">
            <button type="submit" class="primary" disabled={isBusy}>
              {say('tryIt')}
            </button>
          </div>
        </form>
        <section class="console-card" aria-label={say('outcome')} aria-live="polite">
          <h2>{say('outcome')}</h2>
          {!result && failures.length === 0 && <p class="soft">{say('notTried')}</p>}
          {failures.length > 0 && <p class="bad">{say('wouldFail', { count: failures.length })}</p>}
          {elsewhere.map(({ path, message }) => (
            <p key={`${path} ${message}`} class="bad">
              {path && <code>{path} </code>}
              {message}
            </p>
          ))}
          {result && <Outcome result={result} />}
        </section>
      </div>
    </>
  );
}

function AttributeField({
  attribute,
  value,
  error,
  onChange,
}: {
  attribute: Attribute;
  value: string;
  error: string | undefined;
  onChange(value: string): void;
}) {
  const { name, type } = attribute;
  const label = `${name} (${type})`;
  if (type === 'boolean')
    return (
      <>
        <FilterChoice
          label={label}
          value={value}
          onChange={onChange}
          options={['', 'true', 'false'].map((one) => ({ value: one, label: one || '–' }))}
        />
        {error && <span class="bad note">{error}</span>}
      </>
    );
  const isList = type.endsWith('_array');
  return (
    <TextField
      label={label}
      value={value}
      onChange={onChange}
      error={error}
      hint={isList ? say('byCommas') : undefined}
      type={type === 'number' ? 'number' : 'text'}
      autocomplete="off"
    />
  );
}

/** In sentences: what would be made and changed, and what policies would see. */
function Outcome({ result }: { result: DryRun }) {
  const { embedTenant, user, groups, tenantGroups, definitions, userAttributes } = result;
  const listed = (names: readonly string[]) => names.join(', ') || sayShared('none');
  const moved = ({ before, after }: { before: string[]; after: string[] }) => ({
    before: listed(before),
    after: listed(after),
  });
  const sentences = [
    ...(result.ok ? [say('wouldWork')] : []),
    say(embedTenant.created ? 'tenantCreated' : 'tenantKnown', { name: embedTenant.name }),
    ...(user.externalId === null
      ? []
      : [say(user.created ? 'viewerCreated' : 'viewerKnown', { id: user.externalId })]),
    ...(user.changed.length ? [say('viewerChanged', { fields: listed(user.changed) })] : []),
    say(sameNames(groups) ? 'groupsStay' : 'groupsChange', moved(groups)),
    ...(sameNames(tenantGroups) ? [] : [say('tenantGroupsChange', moved(tenantGroups))]),
    ...(definitions.created.length
      ? [say('definitionsCreated', { names: listed(definitions.created) })]
      : []),
    ...(definitions.updated.length
      ? [say('definitionsUpdated', { names: listed(definitions.updated) })]
      : []),
  ];
  return (
    <>
      <ul class="sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      {userAttributes.length > 0 && (
        <div class="console-table" role="region" aria-label={sayShared('attributes')} tabIndex={0}>
          <table class="items">
            <thead>
              <tr>
                <th scope="col">{say('attribute')}</th>
                <th scope="col">{say('value')}</th>
                <th scope="col">{say('from')}</th>
              </tr>
            </thead>
            <tbody>
              {userAttributes.map(({ name, value, source }) => (
                <tr key={name}>
                  <td>{name}</td>
                  <td>{shownValue(value) || '–'}</td>
                  <td>{say(`source.${source}`)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

const sameNames = ({ before, after }: { before: string[]; after: string[] }) =>
  JSON.stringify(before) === JSON.stringify(after);

export default consolePage('adminDryRun', DryRunPage);
