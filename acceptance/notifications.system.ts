/** Mails of dashboards, by built servers: the guide, servers that are killed, and two servers on one database. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startMailServer } from '../packages/server/test/mail-server.ts';
import {
  cleanUp,
  freePort,
  killServer,
  newDataDir,
  newFolder,
  openDatabase,
  type RunningServer,
  startServer,
  until,
} from './server-process.ts';

const root = join(import.meta.dirname, '..');
const guide = readFileSync(join(root, 'docs/notifications.md'), 'utf8').split('\n## ')[1]!;
/** Servers are started again and again, so the limit allows for a busy machine. */
const TIMEOUT_MS = 15 * 60_000;
const FROM = 'Demo <demo@example.com>';

const processes: ChildProcess[] = [];
afterAll(async () => {
  for (const child of processes) child.kill();
  await cleanUp();
});

let dataDir: string;
let apiKey: string;

test('the guide leads to the first mail, and the demo can be exported', { timeout: TIMEOUT_MS }, async () => {
  const [mailCommand, startCommand, add, run, runs] = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, command]) => command!.trim(),
  );
  expect(mailCommand).toBe('npm run demo:mail');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(scripts['demo:mail']).toBe('exec node scripts/mail-server.mjs');
  const [, given] = /^(ORIEL_SMTP_URL=.*) npm start$/.exec(startCommand!)!;

  // The same commands, at ports that are free.
  const folder = await newFolder();
  const port = await freePort();
  const mails = spawn(
    process.execPath,
    [join(root, 'scripts/mail-server.mjs'), String(port), '.oriel-mail'],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  processes.push(mails);
  let said = '';
  mails.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until('the mail server listens', () => said.includes('Mail to smtp://'));
  const settings = spawnSync('/bin/sh', ['-c', `${given} env`], { encoding: 'utf8' }).stdout;
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(settings)![1]!;
  expect(setting('ORIEL_SMTP_URL')).toBe('smtp://127.0.0.1:1025');
  dataDir = await newDataDir();
  const server = await startServer(dataDir, {
    ORIEL_SMTP_URL: `smtp://127.0.0.1:${port}`,
    ORIEL_MAIL_FROM: setting('ORIEL_MAIL_FROM'),
  });
  apiKey = server.apiKey!;
  const admin = server.client(apiKey);
  expect((await admin.getNotifications({ deploymentId: 1 })).items).toMatchObject([
    { id: 1, isEnabled: false },
  ]);
  await until('the demo is built', async () => {
    const response = await admin
      .load({ deploymentId: 1, body: { query: { measures: ['sales.revenue'] } } })
      .catch(() => {});
    return response;
  });

  const curl = `#!/bin/sh\nexec "${process.execPath}" "${join(import.meta.dirname, 'curl.mjs')}" "$@"\n`;
  await writeFile(join(folder, 'curl'), curl, { mode: 0o755 });
  const shell = (command: string) => {
    const env = { PATH: `${folder}:${process.env.PATH}`, ORIEL_ADMIN_API_KEY: apiKey };
    const script = command.replaceAll('http://127.0.0.1:4000', server.url);
    const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8', env, cwd: folder });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  };
  expect(shell(add!).createdRecipients).toHaveLength(1);
  expect(shell(run!)).toMatchObject({ state: 'waiting' });
  const page = join(folder, '.oriel-mail/001.html');
  await until('the mail is there', () => existsSync(page) && said.includes('ada@example.com'));
  await until('the run ended', () => shell(runs!).items[0].state === 'done');
  const mail = readFileSync(page, 'utf8');
  expect(mail).toContain('src="data:image/png;base64,iVBOR');
  expect(mail).toMatch(/Data as of .+\d/);

  const { workbookId } = await admin.getDashboard({ publicId: 'DemoCommerce' });
  for (const [format, magic] of [
    ['png', '\x89PNG'],
    ['pdf', '%PDF'],
  ]) {
    const path = `/api/v1/deployments/1/workbooks/${workbookId}/dashboard/export?format=${format}`;
    const answer = await fetch(server.url + path, { headers: { authorization: `Api-Key ${apiKey}` } });
    expect(answer.status).toBe(200);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.toString('latin1', 0, 4)).toBe(magic);
    expect(bytes.length).toBeGreaterThan(20_000);
  }
  await killServer(server);
});

test('a server that is killed in any phase sends nobody the same run twice, and two servers send once', {
  timeout: TIMEOUT_MS,
}, async () => {
  const kills = new Map<string, () => Promise<unknown>>();
  /**
   * The recipients of each whole message that reached the mail server, even if the sender was killed before the answer.
   */
  const arrived: string[] = [];
  const mails = await startMailServer({
    recipient: async (address) => {
      await kills.get(`recipient ${address}`)?.();
      return undefined;
    },
    message: async (_raw, [address]) => {
      arrived.push(address!);
      await kills.get(`message ${address}`)?.();
      return undefined;
    },
  });
  const settings = { ORIEL_SMTP_URL: mails.url, ORIEL_MAIL_FROM: FROM };
  let server: RunningServer = await startServer(dataDir, settings);
  const start = async () => {
    server = await startServer(dataDir, settings);
  };
  const place = { deploymentId: 1, id: 0 };
  const admin = () => server.client(apiKey);
  const readers = ['ann', 'ben', 'cleo', 'dora'];
  /** Makes the schedule due now, with the jobs of as many servers as noticed it. */
  const dueNow = async (noticed = 1) => {
    const database = await openDatabase(dataDir);
    await database.query(`update notifications set next_due_at = now() where id = ${place.id}`);
    for (let i = 0; i < noticed; i++)
      await database.query(
        `insert into jobs (kind, payload, max_attempts, lane) values ('notifications.due', $1, 100, 'default')`,
        [{ deploymentId: 1, notificationId: place.id }],
      );
    await database.query('notify oriel_jobs');
    await database.end();
  };
  /** Ends the leases of running jobs, as if the killed server had not renewed them for half a minute. */
  const endLeases = async () => {
    const database = await openDatabase(dataDir);
    await database.query("update jobs set lease_until = now() where state = 'running'");
    await database.query('notify oriel_jobs');
    await database.end();
  };
  const newest = async () => (await admin().listNotificationRuns(place)).items[0];
  const outcome = async (count: number) => {
    await until('the run ended', async () => {
      const { items } = await admin().listNotificationRuns(place);
      return items.length === count && ['done', 'failed'].includes(items[0]!.state);
    });
    const { id: runId } = (await newest())!;
    return (await admin().listNotificationDeliveries({ ...place, runId })).items.map(({ status }) => status);
  };
  try {
    const dashboardPublicId = 'DemoCommerce';
    const body = { dashboardPublicId, scheduleType: 'DAILY' as const, hour: 3 };
    place.id = (await admin().createNotification({ deploymentId: 1, body })).id;
    const recipients = readers.map((externalId) => ({
      type: 'EMBED_USER' as const,
      embedTenantName: 'acme-corp',
      externalId,
      email: `${externalId}@example.com`,
      userAttributes: [{ name: 'region', value: 'EU' }],
    }));
    await admin().addRecipients({ ...place, body: { recipients } });

    /** Kills the server once, at this point, and starts it again. */
    const killedAt = async (where: string, run: number) => {
      arrived.length = 0;
      const isKilled = new Promise<void>((resolve) => {
        kills.set(where, async () => {
          kills.clear();
          // This kills the process that runs its jobs, and its database, too.
          process.kill(-server.pid, 'SIGKILL');
          await killServer(server);
          resolve();
        });
      });
      await dueNow();
      if (where === 'reading') {
        await until('it reads', async () => (await newest().catch(() => undefined))?.phase);
        await kills.get(where)!();
      }
      await isKilled;
      await start();
      await endLeases();
      const statuses = await outcome(run);
      const counts = readers.map((name) => arrived.filter((to) => to === `${name}@example.com`).length);
      expect(Math.max(...counts), where).toBe(1);
      return { statuses, counts };
    };
    const [one, two, three] = [
      await killedAt('reading', 1),
      await killedAt('recipient ben@example.com', 2),
      await killedAt('message cleo@example.com', 3),
    ];
    expect(one).toEqual({ statuses: Array(4).fill('sent'), counts: [1, 1, 1, 1] });
    // The process that runs jobs may outlive the server: then the mail that was on its way is `sent`, otherwise
    // `unknown`.
    for (const { statuses, counts } of [two, three])
      for (const [i, status] of statuses.entries()) {
        expect(['sent', 'unknown']).toContain(status);
        if (status === 'sent') expect(counts[i]).toBe(1);
      }

    // Two servers on one database, and one due time that both hear of.
    arrived.length = 0;
    const second = await startServer(await newDataDir(), {
      ...settings,
      ORIEL_DATABASE_URL: `postgres://oriel@localhost/oriel?host=${encodeURIComponent(join(dataDir, 'run'))}`,
      ORIEL_SECRET_KEY: readFileSync(join(dataDir, 'secret.key'), 'utf8').trim(),
    });
    await dueNow(2);
    expect(await outcome(4)).toEqual(Array(4).fill('sent'));
    expect(arrived.toSorted()).toEqual(readers.map((name) => `${name}@example.com`));
    await killServer(second);
  } finally {
    await mails.stop();
  }
});
