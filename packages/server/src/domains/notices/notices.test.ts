/** What the operator should look after, and that a notice leaves when it is settled. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { type Facts, noticesOf } from './rules.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
});
afterAll(() => world?.stop());

const codes = async () =>
  (await world.admin.listNotices({})).items
    .map(({ code }) => code)
    // The disk of the machine of this test may be full.
    .filter((code) => code !== 'disk_nearly_full');

test('notices are about this server, and leave when they are settled', async () => {
  const { pool } = world.server.db;
  expect(await codes()).toEqual(['mail_not_set', 'private_remotes_allowed']);
  await pool.query(`update installation set created_at = now() - interval '8 days'`);
  expect(await codes()).toEqual(['no_recent_backup', 'mail_not_set', 'private_remotes_allowed']);
  await pool.query(`update installation set last_backup_at = now() - interval '9 days 1 hour'`);
  const { items } = await world.admin.listNotices({});
  expect(items.find(({ code }) => code === 'no_recent_backup')?.values).toEqual({ days: '9' });
  await pool.query('update installation set last_backup_at = now()');
  expect(await codes()).toEqual(['mail_not_set', 'private_remotes_allowed']);
  for (const { message, whatToDo } of (await world.admin.listNotices({})).items) {
    expect(message).toMatch(/\.$/);
    expect(whatToDo).toMatch(/\.$/);
  }
  const { client } = await world.person({ roles: ['Developer'] });
  await expect(client.listNotices({})).rejects.toMatchObject({ status: 403 });
});

const NOW = Date.parse('2026-02-01T00:00:00Z');
const DAY = 86_400_000;
const GB = 1024 ** 3;
const settled: Facts = {
  hasMail: true,
  hasKeyInDataDir: false,
  allowsPrivateRemotes: false,
  installedAt: NOW - 100 * DAY,
  lastBackupAt: NOW - 6 * DAY,
  disk: { freeBytes: 50 * GB, bytes: 100 * GB },
  version: '1.9.0',
  now: NOW,
};

test.each<[string, Partial<Facts>, string[]]>([
  ['nothing', {}, []],
  ['a backup that is too old', { lastBackupAt: NOW - 8 * DAY }, ['no_recent_backup']],
  ['no backup of a new server', { lastBackupAt: undefined, installedAt: NOW - DAY }, []],
  ['a disk with little room', { disk: { freeBytes: 5 * GB, bytes: 100 * GB } }, ['disk_nearly_full']],
  ['a large disk with enough room', { disk: { freeBytes: 50 * GB, bytes: 1000 * GB } }, []],
  ['a disk that cannot be asked', { disk: undefined }, []],
  ['a newer release', { latestRelease: 'v1.10.0' }, ['new_release']],
  ['the same release', { latestRelease: '1.9.0' }, []],
  ['an older release', { latestRelease: '1.8.12' }, []],
  ['the key in the data dir', { hasKeyInDataDir: true }, ['secret_key_in_data_dir']],
])('%s', (_what, facts, expected) => {
  expect(noticesOf({ ...settled, ...facts }).map(({ code }) => code)).toEqual(expected);
});
