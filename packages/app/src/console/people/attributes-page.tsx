/** Attributes: what data policies can know about a person. Values are set for each user. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { FilterChoice, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';
import { shownValue } from './values-dialog.tsx';

export const texts = withShared(say);

const KEY = 'user-attributes/';
const TYPES = ['string', 'number', 'boolean', 'string_array', 'number_array'] as const;
type Attribute = Awaited<ReturnType<typeof api.getUserAttributes>>['items'][number];
type AttributeType = (typeof TYPES)[number];

function Attributes() {
  const list = useList(`${KEY}list`, async (first, signal) => {
    const { items, pageInfo } = await api.getUserAttributes({ first }, { signal });
    return { items, pageInfo: pageInfo ?? { hasNextPage: false } };
  });
  const edit = (attribute?: Attribute) =>
    openDialog((close) => <EditAttribute attribute={attribute} onClose={close} />);
  const remove = (id: number, name: string) =>
    confirm({
      title: say('removeIt', { name }),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteUserAttribute({ id }));
        invalidate(KEY);
      },
    });
  return (
    <>
      <PageHead title={sayShared('attributes')} hint={say('attributesHint')}>
        <button type="button" class="primary" onClick={() => edit()}>
          {say('newAttribute')}
        </button>
      </PageHead>
      <Table
        label={sayShared('attributes')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noAttributes')}
        emptyHint={say('noAttributesHint')}
        columns={[
          {
            title: sayShared('name'),
            cell: ({ name, displayName }) => (displayName ? `${displayName} (${name})` : name),
          },
          { title: say('type'), cell: ({ type }) => type },
          {
            title: say('defaultValue'),
            isWide: true,
            cell: ({ defaultValue }) => shownValue(defaultValue) || '–',
          },
          { title: sayShared('description'), isWide: true, cell: ({ description }) => description ?? '' },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (attribute) => (
              <>
                <button type="button" onClick={() => edit(attribute)}>
                  {sayShared('edit')}
                </button>{' '}
                <button type="button" class="bad" onClick={() => remove(attribute.id, attribute.name)}>
                  {sayShared('remove')}
                </button>
              </>
            ),
          },
        ]}
      />
    </>
  );
}

/** The name and the type of an attribute stay as they are. */
function EditAttribute({ attribute, onClose }: { attribute: Attribute | undefined; onClose(): void }) {
  const [name, setName] = useState(attribute?.name ?? '');
  const [type, setType] = useState<AttributeType>(attribute?.type ?? 'string');
  const [displayName, setDisplayName] = useState(attribute?.displayName ?? '');
  const [description, setDescription] = useState(attribute?.description ?? '');
  const [defaultValue, setDefault] = useState(shownValue(attribute?.defaultValue));
  return (
    <Dialog title={attribute?.name ?? say('newAttribute')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const body = {
            displayName: displayName.trim() || null,
            description: description.trim() || null,
            defaultValue: defaultValue.trim() || null,
          };
          const saved = await attempt(() =>
            attribute
              ? api.updateUserAttribute({ id: attribute.id, body })
              : api.createUserAttribute({ body: { ...body, name: name.trim(), type } }),
          );
          if (!saved) return;
          invalidate(KEY);
          onClose();
        }}
      >
        <TextField
          label={sayShared('name')}
          required
          readOnly={attribute !== undefined}
          maxLength={255}
          value={name}
          onChange={setName}
        />
        {!attribute && (
          <FilterChoice
            label={say('type')}
            value={type}
            onChange={(value) => setType(value as AttributeType)}
            options={TYPES.map((one) => ({ value: one, label: one }))}
          />
        )}
        <TextField label={say('displayName')} maxLength={255} value={displayName} onChange={setDisplayName} />
        <TextField
          label={sayShared('description')}
          maxLength={1000}
          value={description}
          onChange={setDescription}
        />
        <TextField
          label={say('defaultValue')}
          hint={say('valueHint')}
          maxLength={1000}
          value={defaultValue}
          onChange={setDefault}
        />
        <Foot onClose={onClose} action={sayShared(attribute ? 'save' : 'create')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminAttributes', Attributes);
