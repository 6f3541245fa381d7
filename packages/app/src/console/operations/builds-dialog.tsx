/** The builds of a branch, newest first, and another one. */
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/toasts.tsx';
import { shownTime, useList, useRefresh } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say } from './say.ts';

interface Props {
  deploymentId: number;
  branchName: string;
  mayBuild: boolean;
  onClose(): void;
}

const HASH_CHARACTERS = 8;

export function BuildsDialog({ deploymentId, branchName, mayBuild, onClose }: Props) {
  const key = `d/${deploymentId}/builds/${branchName}`;
  const list = useList(key, (first, signal) =>
    api.listBuilds({ deploymentId, branchName, first }, { signal }),
  );
  useRefresh(key);
  return (
    <Dialog title={`${say('builds')}: ${branchName}`} size="wide" onClose={onClose}>
      <Table
        label={say('builds')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noBuilds')}
        columns={[
          { title: say('time'), cell: ({ createdAt }) => shownTime(createdAt) },
          {
            title: say('state'),
            cell: ({ status, errorText }) => (
              <>
                {say(`build_${status}`)}
                {errorText && <pre class="console-code">{errorText}</pre>}
              </>
            ),
          },
          {
            title: say('commit'),
            isWide: true,
            cell: ({ lastHash }) => (lastHash ? <code>{lastHash.slice(0, HASH_CHARACTERS)}</code> : '–'),
          },
        ]}
      />
      {mayBuild && (
        <div class="dialog-foot">
          <button
            type="button"
            onClick={async () => {
              await attempt(() => api.startBuild({ deploymentId, body: { branchName } }));
              invalidate(key);
            }}
          >
            {say('buildAgain')}
          </button>
        </div>
      )}
    </Dialog>
  );
}
