/** The tokens of an environment: made with what they allow and for how long, and ended. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/toasts.tsx';
import { showOnce } from '../parts/confirm.tsx';
import { CheckField, TextField } from '../parts/fields.tsx';
import { shownTime } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';

export function Tokens({
  deploymentId,
  environmentId,
  branch,
  onClose,
}: {
  deploymentId: number;
  environmentId: string;
  branch: string;
  onClose(): void;
}) {
  const key = `d/${deploymentId}/tokens/${environmentId}`;
  const [context, setContext] = useState('{}');
  const [mayQuery, setMayQuery] = useState(true);
  const [minutes, setMinutes] = useState('60');
  const [error, setError] = useState<string>();
  const list = useData(key, async (signal) => {
    const query = { deploymentId, environmentId, first: 100 };
    const { items } = await api.getDeploymentEnvironmentTokens(query, { signal });
    return { items, hasMore: false };
  });
  return (
    <Dialog title={`${say('tokens')}: ${branch}`} size="wide" onClose={onClose}>
      <Table
        label={say('tokens')}
        loaded={list}
        keyOf={({ id }) => id}
        empty={say('noTokens')}
        columns={[
          { title: say('tokens'), cell: ({ token }) => <code>{token}</code> },
          { title: say('expires'), cell: ({ expires_at }) => shownTime(expires_at) },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ id: tokenId }) => (
              <button
                type="button"
                class="bad"
                onClick={async () => {
                  const token = { deploymentId, environmentId, tokenId };
                  await attempt(() => api.deleteDeploymentEnvironmentToken(token));
                  invalidate(key);
                }}
              >
                {say('endToken')}
              </button>
            ),
          },
        ]}
      />
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const security_context = objectIn(context);
          if (!security_context) return setError(say('badJson'));
          setError(undefined);
          const body = {
            security_context,
            expires_in: Math.min(60, Math.max(1, Number(minutes) || 60)) * 60,
            scopes: mayQuery ? ['meta', 'data'] : ['meta'],
          };
          const made = await attempt(() =>
            api.createDeploymentEnvironmentToken({ deploymentId, environmentId, body }),
          );
          if (!made) return;
          invalidate(key);
          showOnce(say('newToken'), say('newToken'), made.data.token);
        }}
      >
        <TextField
          label={say('securityContext')}
          rows={3}
          value={context}
          onChange={setContext}
          error={error}
        />
        <TextField
          label={say('minutes')}
          type="number"
          hint={say('minutesHint')}
          value={minutes}
          onChange={setMinutes}
        />
        <CheckField
          label={say('mayQuery')}
          hint={say('mayQueryHint')}
          isOn={mayQuery}
          onChange={setMayQuery}
        />
        <div class="dialog-foot">
          <button type="submit" class="primary">
            {say('newToken')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
