/** What the operator should look after, in the words of the reader, with what to do and where. */
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { Empty, Failed, Skeleton } from '../../parts/states.tsx';
import { addressOf } from '../../place.ts';
import { CopyField } from '../parts/confirm.tsx';
import { say as sayShared, withShared } from '../say.ts';
import type { ConsoleRoute } from '../sections.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Notice = Awaited<ReturnType<typeof api.listNotices>>['items'][number];

/** Where it is mended: a page of the app, or a command or a setting of the server. */
const MENDED: Record<Notice['code'], { page?: ConsoleRoute; paste?: string }> = {
  mail_not_set: { paste: 'ORIEL_SMTP_URL=smtp://… ORIEL_MAIL_FROM=…' },
  no_recent_backup: { paste: 'npm run backup' },
  secret_key_in_data_dir: { paste: 'ORIEL_SECRET_KEY=…' },
  private_remotes_allowed: { page: 'adminSources' },
  disk_nearly_full: { page: 'adminServers' },
  new_release: { page: 'adminServers' },
};

/** Codes of a newer server are shown as it says them. */
const isKnown = ({ code }: Notice) => code in MENDED;

const messageOf = ({ code, values }: Notice) =>
  say(code === 'no_recent_backup' && !values.days ? 'no_backup_text' : `${code}_text`, values);

function Notices({ deploymentId, rights }: ConsolePageProps) {
  const { data, problem, reload } = useData('notices', (signal) => api.listNotices({}, { signal }));
  return (
    <>
      <PageHead title={sayShared('notices')} hint={say('noticesHint')} />
      {!data && (problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />)}
      {data?.items.length === 0 && <Empty title={say('noNotices')} />}
      <ul class="notices">
        {data?.items.map((notice) => {
          const { page, paste } = MENDED[notice.code] ?? {};
          return (
            <li key={notice.code} class={`console-card ${notice.severity}`}>
              <h2>{isKnown(notice) ? say(notice.code) : notice.code}</h2>
              <p>{isKnown(notice) ? messageOf(notice) : notice.message}</p>
              <p>
                <strong>{say('whatToDo')}:</strong>{' '}
                {isKnown(notice) ? say(`${notice.code}_mend`) : notice.whatToDo}
              </p>
              {paste && <CopyField label={say('atServer')} value={paste} />}
              {page && rights.isAdmin && (
                <p>
                  <a href={addressOf(deploymentId, page)}>
                    {sayShared(page === 'adminSources' ? 'sources' : 'servers')}
                  </a>
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

export default consolePage('adminNotices', Notices);
