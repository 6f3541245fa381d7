/**
 * The draft as another viewer would see it, for admins: the choice of the viewer, and their name while the preview is
 * shown.
 */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { wordsOf } from '../parts/states.tsx';
import { say as sayApp } from '../texts/say.ts';
import type { Editor } from './editor.ts';
import { SelectField, TextField } from './fields.tsx';
import { say } from './say.ts';

type Identity = Parameters<typeof api.createDashboardPreview>[0]['body'];
type Kind = 'person' | 'group' | 'viewer';

interface PreviewIdentity {
  identity: Identity;
  name: string;
}

export const openPreviewAs = (editor: Editor) =>
  openDialog((close) => <PreviewAs editor={editor} onClose={close} />);

function PreviewAs({ editor, onClose }: { editor: Editor; onClose(): void }) {
  const [kind, setKind] = useState<Kind>('person');
  const [chosen, setChosen] = useState<PreviewIdentity>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);

  async function show({ identity, name }: PreviewIdentity) {
    setBusy(true);
    setProblem(undefined);
    try {
      const preview = await api.createDashboardPreview({ ...editor.where, body: identity });
      editor.previewAs({ name, ...preview });
      onClose();
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  }

  const Choice = { person: People, group: Groups, viewer: Viewer }[kind];
  return (
    <Dialog title={say('previewAs')} onClose={onClose}>
      <form
        class="preview-as"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen) void show(chosen);
        }}
      >
        <p class="soft">{say('previewAsHint')}</p>
        <SelectField
          label={say('asKind')}
          value={kind}
          options={(['person', 'group', 'viewer'] as const).map((one) => ({
            value: one,
            label: say(`as.${one}`),
          }))}
          onChange={(one) => {
            setKind(one as Kind);
            setChosen(undefined);
          }}
        />
        <Choice key={kind} onChoose={setChosen} />
        {problem && (
          <p role="alert" class="problem">
            {[wordsOf(problem), ...problem.issues.map(({ message }) => message)].join(' ')}
          </p>
        )}
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            {sayApp('cancel')}
          </button>
          <button type="submit" class="primary" disabled={!chosen || isBusy}>
            {say('preview')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  onChoose(chosen: PreviewIdentity | undefined): void;
}

function People({ onChoose }: ChoiceProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<number>();
  const search = text.trim();
  const { data } = useData(
    `users/${search}`,
    async (signal) =>
      (await api.listUsers({ state: 'active', first: 8, ...(search ? { search } : {}) }, { signal })).items,
  );
  return (
    <>
      <TextField label={say('findPerson')} value={text} onChange={setText} />
      <fieldset class="choices">
        <legend class="hidden">{say('as.person')}</legend>
        {data?.map(({ id, firstName, email }) => {
          const name = firstName ? `${firstName} · ${email}` : email;
          return (
            <label key={id} class="check">
              <input
                type="radio"
                name="person"
                checked={chosen === id}
                onChange={() => {
                  setChosen(id);
                  onChoose({ identity: { userId: id }, name: firstName || email });
                }}
              />
              <span>{name}</span>
            </label>
          );
        })}
        {data?.length === 0 && <p class="soft">{say('nobodyFound')}</p>}
      </fieldset>
    </>
  );
}

const useGroups = () =>
  useData('user-groups', async (signal) => (await api.listUserGroups({ first: 1000 }, { signal })).items);

function Groups({ onChoose }: ChoiceProps) {
  const { data = [] } = useGroups();
  const [id, setId] = useState('');
  return (
    <SelectField
      label={say('as.group')}
      hint={say('asGroupHint')}
      value={id}
      options={[
        { value: '', label: say('none') },
        ...data.map((group) => ({ value: String(group.id), label: group.name })),
      ]}
      onChange={(chosen) => {
        setId(chosen);
        const group = data.find((one) => String(one.id) === chosen);
        onChoose(group && { identity: { groupId: group.id }, name: group.name });
      }}
    />
  );
}

interface ViewerForm {
  embedTenantName: string;
  externalId: string;
  groups: string;
  attributes: Record<string, string>;
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);

/** What is typed, in the type of the attribute. What does not fit is sent as it is, and the server says what would. */
function typedValue(type: string, text: string): unknown {
  const numberOf = (one: string) => (Number.isFinite(Number(one)) ? Number(one) : one);
  if (type === 'number') return numberOf(text);
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'string_array') return listOf(text);
  return type === 'number_array' ? listOf(text).map(numberOf) : text;
}

function Viewer({ onChoose }: ChoiceProps) {
  const { data: tenants = [] } = useData('embed-tenants', async (signal) => {
    const { items } = await api.listEmbedTenants({ first: 200 }, { signal });
    return items;
  });
  const { data: attributes = [] } = useData(
    'user-attributes',
    async (signal) => (await api.getUserAttributes({ first: 200 }, { signal })).items,
  );
  const [given, setGiven] = useState<ViewerForm>({
    embedTenantName: '',
    externalId: '',
    groups: '',
    attributes: {},
  });
  const set = (change: Partial<ViewerForm>) => {
    const next = { ...given, ...change };
    setGiven(next);
    const { embedTenantName } = next;
    const externalId = next.externalId.trim();
    const filled = attributes.filter(({ name }) => next.attributes[name]?.trim());
    const viewer = {
      embedTenantName,
      ...(externalId ? { externalId } : {}),
      ...(next.groups.trim() ? { groups: listOf(next.groups) } : {}),
      ...(filled.length
        ? {
            userAttributes: Object.fromEntries(
              filled.map(({ name, type }) => [name, typedValue(type, next.attributes[name]!.trim())]),
            ),
          }
        : {}),
    };
    const name = externalId ? `${externalId} (${embedTenantName})` : embedTenantName;
    onChoose(embedTenantName ? { identity: { viewer }, name } : undefined);
  };
  return (
    <>
      <SelectField
        label={say('embedTenant')}
        value={given.embedTenantName}
        options={[
          { value: '', label: say('none') },
          ...tenants.map(({ name }) => ({ value: name, label: name })),
        ]}
        onChange={(embedTenantName) => set({ embedTenantName })}
      />
      <TextField
        label={say('externalId')}
        hint={say('externalIdHint')}
        value={given.externalId}
        onChange={(externalId) => set({ externalId })}
      />
      <TextField label={say('asGroups')} value={given.groups} onChange={(groups) => set({ groups })} />
      {attributes.slice(0, 30).map(({ name, displayName }) => (
        <TextField
          key={name}
          label={displayName || name}
          value={given.attributes[name] ?? ''}
          onChange={(value) => set({ attributes: { ...given.attributes, [name]: value } })}
        />
      ))}
    </>
  );
}

/** A banner that stays in sight, so that admins do not mistake the rows of another viewer for their own. */
export function PreviewedAs({ editor }: { editor: Editor }) {
  const as = editor.previewed.value;
  if (!as) return null;
  const { name, groups, tenantGroups, userAttributes, seesDashboard } = as;
  const attributes = Object.entries(userAttributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`);
  return (
    <div class="previewed-as" role="status">
      <p>
        <strong>{say('previewedAs', { name })}</strong>{' '}
        <span class="soft">{[...groups, ...tenantGroups, ...attributes].join(' · ')}</span>
      </p>
      {seesDashboard === false && <p>{say('notSeen')}</p>}
      <button type="button" onClick={() => editor.previewAs(undefined)}>
        {say('stopPreviewAs')}
      </button>
    </div>
  );
}
