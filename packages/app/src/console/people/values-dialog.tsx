/** The values of one user for all attributes, as data policies see them. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';

export const shownValue = (value: unknown) =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** As the API takes it: texts as they are, everything else as JSON. Empty removes the value. */
function parsedValue(text: string, type: string): unknown {
  if (text === '') return null;
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    // The server says what does not fit.
    return text;
  }
}

export async function saveValue(userId: number, userAttributeId: number, text: string, type: string) {
  const body = {
    userId: String(userId),
    userAttributeId: String(userAttributeId),
    value: parsedValue(text, type),
  };
  const saved = await attempt(() => api.upsertUserAttributeValue({ body: body as never }));
  if (saved) toast(sayShared('saved'));
  invalidate('values/');
  return saved !== undefined;
}

export function ValuesDialog({ userId, name, onClose }: { userId: number; name: string; onClose(): void }) {
  const { data: values } = useData(`values/${userId}`, (signal) =>
    api.getUserAttributeValues({ userId }, { signal }),
  );
  const { data: known } = useData('user-attributes/all', (signal) =>
    api.getUserAttributes({ first: 1000 }, { signal }),
  );
  return (
    <Dialog title={`${sayShared('attributes')}: ${name}`} onClose={onClose}>
      <p class="soft">{say('valueHint')}</p>
      {values &&
        known?.items.map((attribute) => (
          <ValueField
            key={attribute.id}
            userId={userId}
            attribute={attribute}
            value={shownValue(values.find(({ userAttributeId }) => userAttributeId === attribute.id)?.value)}
          />
        ))}
    </Dialog>
  );
}

export function ValueField({
  userId,
  attribute,
  value,
}: {
  userId: number;
  attribute: { id: number; name: string; type: string; defaultValue?: unknown };
  value: string;
}) {
  const [text, setText] = useState(value);
  return (
    <form
      class="copy-field"
      data-attribute={attribute.name}
      onSubmit={(event) => {
        event.preventDefault();
        void saveValue(userId, attribute.id, text.trim(), attribute.type);
      }}
    >
      <label class="field">
        <span>
          {attribute.name} <span class="soft">({attribute.type})</span>
        </span>
        <input
          value={text}
          placeholder={shownValue(attribute.defaultValue)}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button
        type="submit"
        aria-label={`${sayShared('save')}: ${attribute.name}`}
        disabled={text.trim() === value}
      >
        {sayShared('save')}
      </button>
    </form>
  );
}
