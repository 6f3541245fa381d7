import { statfs } from 'node:fs/promises';
import { operations } from '@oriel/contract';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { findBackupTimes } from '../installation/index.ts';
import { type Facts, noticesOf } from './rules.ts';

export interface NoticeSettings
  extends Pick<Facts, 'allowsPrivateRemotes' | 'hasKeyInDataDir' | 'version' | 'latestRelease'> {
  dataDir: string;
}

const LIST = 'notices';

export const noticeRoutes = (
  { mail, cursors }: Pick<Platform, 'mail' | 'cursors'>,
  { dataDir, ...known }: NoticeSettings,
) => [
  handle(operations.listNotices, async ({ db }, { query }) => {
    const times = await findBackupTimes(db);
    // Before the first write there is no data dir, and then there is nothing to fill it.
    const disk = await statfs(dataDir).catch(() => undefined);
    const items = noticesOf({
      ...known,
      hasMail: mail !== undefined,
      installedAt: Date.parse(times.createdAt),
      lastBackupAt: times.lastBackupAt === null ? undefined : Date.parse(times.lastBackupAt),
      disk: disk && { freeBytes: disk.bavail * disk.bsize, bytes: disk.blocks * disk.bsize },
      now: Date.now(),
    });
    const after = query.after && cursors.decode(LIST, query.after)[0];
    const size = pageSize(query.first);
    const start = after ? items.findIndex(({ code }) => code === after) + 1 : 0;
    return toPage(items.slice(start, start + size + 1), {
      size,
      after: query.after,
      cursorOf: ({ code }) => cursors.encode(LIST, [code]),
    });
  }),
];
