/** What the operator should look after, and how the servers are. */
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { Empty, Failed, Skeleton } from '../../parts/states.tsx';
import { shownNumber, shownTime, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

function Notices({ deploymentId }: ConsolePageProps) {
  const { data, problem, reload } = useData('notices', (signal) => api.listNotices({}, { signal }));
  const pods = useList(`d/${deploymentId}/pods`, (first, signal) =>
    api.pods({ deploymentId, first }, { signal }),
  );
  return (
    <>
      <PageHead title={sayShared('notices')} hint={say('noticesHint')} />
      {!data && (problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />)}
      {data?.items.length === 0 && <Empty title={say('noNotices')} />}
      <ul class="notices">
        {data?.items.map(({ code, severity, message, whatToDo }) => (
          <li key={code} class={`console-card ${severity}`}>
            <h2>{say(code)}</h2>
            <p>{message}</p>
            <p>
              <strong>{say('whatToDo')}:</strong> {whatToDo}
            </p>
          </li>
        ))}
      </ul>
      <h2 class="next">{say('health')}</h2>
      <Table
        label={say('health')}
        loaded={pods}
        more={pods.more}
        keyOf={({ name }) => name}
        empty={sayShared('none')}
        columns={[
          { title: say('server'), cell: ({ name }) => name },
          { title: say('ready'), cell: ({ ready }) => sayShared(ready ? 'yes' : 'no') },
          {
            title: say('restarts'),
            isNumber: true,
            isWide: true,
            cell: ({ restartCount }) => shownNumber(restartCount ?? 0),
          },
          { title: say('startedAt'), isWide: true, cell: ({ startedAt }) => shownTime(startedAt) },
        ]}
      />
    </>
  );
}

export default consolePage('adminNotices', Notices);
