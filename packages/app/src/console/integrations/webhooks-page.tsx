/** Webhooks of events: where they go, what became of them, and a test. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm, showOnce } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { shownNumber, shownTime, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

const KEY = 'webhooks/';
type Webhook = Awaited<ReturnType<typeof api.listWebhooks>>['items'][number];

function Webhooks() {
  const list = useList(`${KEY}list`, (first, signal) => api.listWebhooks({ first }, { signal }));
  return (
    <>
      <PageHead title={sayShared('webhooks')} hint={say('webhooksHint')}>
        <button
          type="button"
          class="primary"
          onClick={() => openDialog((close) => <NewWebhook onClose={close} />)}
        >
          {say('newWebhook')}
        </button>
      </PageHead>
      <Table
        label={sayShared('webhooks')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noWebhooks')}
        emptyHint={say('noWebhooksHint')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => name },
          { title: say('address'), isWide: true, cell: ({ url }) => <span class="cut">{url}</span> },
          {
            title: say('events'),
            isWide: true,
            cell: ({ events }) => (events.includes('*') ? sayShared('all') : events.join(', ')),
          },
          { title: say('state'), cell: stateOf },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (webhook) => (
              <button
                type="button"
                aria-label={`${say('deliveries')}: ${webhook.name}`}
                onClick={() => openDialog((close) => <Deliveries webhook={webhook} onClose={close} />)}
              >
                {say('deliveries')}
              </button>
            ),
          },
        ]}
      />
    </>
  );
}

const stateOf = ({ isEnabled, notice, failingSince }: Webhook) => {
  if (!isEnabled) return notice ? `${say('off')}: ${notice}` : say('off');
  return failingSince ? say('failingSince', { time: shownTime(failingSince) }) : say('on');
};

function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { id, name, isEnabled } = webhook;
  const key = `${KEY}${id}/deliveries`;
  const list = useList(key, (first, signal) => api.listWebhookDeliveries({ id, first }, { signal }));
  const change = async (work: () => Promise<unknown>, text?: string) => {
    await attempt(async () => {
      await work();
      if (text) toast(text);
    });
    invalidate(KEY);
  };
  const rotate = () =>
    confirm({
      title: say('newSecret'),
      hint: say('rotateHint'),
      action: say('newSecret'),
      // The former one is valid for another day.
      isDangerous: false,
      run: async () => {
        const made = await attempt(() => api.rotateWebhookSecret({ id, body: {} }));
        if (made) showOnce(say('newSecret'), say('secret'), made.secret);
      },
    });
  const remove = () =>
    confirm({
      title: say('removeIt', { name }),
      action: sayShared('remove'),
      run: () => change(() => api.deleteWebhook({ id })),
    });
  /** Closes the dialog first, because it shows the webhook before the change. */
  const leaving = (work: () => unknown) => () => {
    onClose();
    void work();
  };
  return (
    <Dialog title={`${say('deliveries')}: ${name}`} size="wide" onClose={onClose}>
      <div class="toolbar">
        {isEnabled && (
          <button
            type="button"
            class="primary"
            onClick={() => void change(() => api.testWebhook({ id }), say('testSent'))}
          >
            {say('test')}
          </button>
        )}
        <button type="button" onClick={list.reload}>
          {sayShared('refresh')}
        </button>
        <button
          type="button"
          onClick={leaving(() => change(() => api.updateWebhook({ id, body: { isEnabled: !isEnabled } })))}
        >
          {say(isEnabled ? 'switchOff' : 'switchOn')}
        </button>
        <button type="button" onClick={leaving(rotate)}>
          {say('newSecret')}
        </button>
        <button type="button" class="bad" onClick={leaving(remove)}>
          {sayShared('remove')}
        </button>
      </div>
      <Table
        label={say('deliveries')}
        loaded={list}
        more={list.more}
        keyOf={(delivery) => delivery.id}
        empty={say('noDeliveries')}
        columns={[
          { title: say('event'), cell: ({ event }) => <code>{event}</code> },
          {
            title: say('state'),
            cell: ({ status, error }) => [say(status), error].filter(Boolean).join(': '),
          },
          { title: say('attempts'), isWide: true, isNumber: true, cell: (one) => shownNumber(one.attempts) },
          { title: say('time'), isWide: true, cell: ({ createdAt }) => shownTime(createdAt) },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (delivery) =>
              isEnabled &&
              delivery.status !== 'pending' && (
                <button
                  type="button"
                  onClick={() =>
                    void change(() => api.redeliverWebhook({ id, deliveryId: delivery.id }), say('sentAgain'))
                  }
                >
                  {say('sendAgain')}
                </button>
              ),
          },
        ]}
      />
    </Dialog>
  );
}

type Events = Parameters<typeof api.createWebhook>[0]['body']['events'];

function NewWebhook({ onClose }: { onClose(): void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('*');
  return (
    <Dialog title={say('newWebhook')} onClose={onClose}>
      <form
        class="console-form"
        onSubmit={async (event) => {
          event.preventDefault();
          const body = {
            url: url.trim(),
            // The server says which of them it does not know.
            events: events.split(/[\s,]+/).filter(Boolean) as Events,
            ...(name.trim() && { name: name.trim() }),
          };
          const made = await attempt(() => api.createWebhook({ body }));
          if (!made) return;
          invalidate(KEY);
          onClose();
          showOnce(made.name, say('secret'), made.secret);
        }}
      >
        <TextField
          label={say('address')}
          hint={say('webhookAddressHint')}
          type="url"
          required
          maxLength={2048}
          value={url}
          onChange={setUrl}
        />
        <TextField label={sayShared('name')} maxLength={255} value={name} onChange={setName} />
        <TextField
          label={say('events')}
          hint={say('eventsHint')}
          rows={3}
          required
          value={events}
          onChange={setEvents}
        />
        <Foot onClose={onClose} action={sayShared('create')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminWebhooks', Webhooks);
