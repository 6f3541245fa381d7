/** Attributes: what data policies can know about a person. Values are set for each user. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { FilterChoice, TextField } from '../parts/fields.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';
import { Foot } from './users-page.tsx';
import { shownValue } from './values-dialog.tsx';

export const texts = withShared(say);

const KEY = 'user-attributes/';
const TYPES = ['string', 'number', 'boolean', 'string_array', 'number_array'] as const;
type AttributeType = (typeof TYPES)[number];

function Attributes() {
  const list = useList(`${KEY}list`, async (first, signal) => {
    const { items, pageInfo } = await api.getUserAttributes({ first }, { signal });
    return { items, pageInfo: pageInfo ?? { hasNextPage: false } };
  });
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
        <button
          type="button"
          class="primary"
          onClick={() => openDialog((close) => <NewAttribute onClose={close} />)}
        >
          {say('newAttribute')}
        </button>
      </PageHead>
      <Table
        label={sayShared('attributes')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noAttributes')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => name },
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
            cell: ({ id, name }) => (
              <button type="button" class="bad" onClick={() => remove(id, name)}>
                {sayShared('remove')}
              </button>
            ),
          },
        ]}
      />
    </>
  );
}

function NewAttribute({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [type, setType] = useState<AttributeType>('string');
  const [description, setDescription] = useState('');
  return (
    <Dialog title={say('newAttribute')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { name: name.trim(), type, ...(description ? { description } : {}) };
          if (!(await attempt(() => api.createUserAttribute({ body })))) return;
          invalidate(KEY);
          onClose();
        }}
      >
        <TextField label={sayShared('name')} required maxLength={255} value={name} onChange={setName} />
        <FilterChoice
          label={say('type')}
          value={type}
          onChange={(value) => setType(value as AttributeType)}
          options={TYPES.map((one) => ({ value: one, label: one }))}
        />
        <TextField
          label={sayShared('description')}
          maxLength={1000}
          value={description}
          onChange={setDescription}
        />
        <Foot onClose={onClose} action={sayShared('create')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminAttributes', Attributes);
