/** Schedules of a dashboard in a real browser: an admin, a creator in a frame, and the buttons of the embedded page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, PHONE } from '../../../test/browser.ts';
import { embed, type HostSite, startHost } from '../../../test/embedded-page.ts';
import { type MailServer, startMailServer } from '../../../test/mail-server.ts';
import { whenBuilt } from '../../../test/shops.ts';
import { createSignable, PASSWORD } from '../../../test/sign-in.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
let browser: Browser;
let host: HostSite;
let mails: MailServer;
beforeAll(async () => {
  mails = await startMailServer();
  world = await createOwnWorld({
    env: { ORIEL_DEMO: 'true', ORIEL_SMTP_URL: mails.url, ORIEL_MAIL_FROM: 'Acme <no-reply@example.com>' },
  });
  browser = await openBrowser();
  host = await startHost();
  await whenBuilt(world, 1);
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  await world?.stop();
  await mails?.stop();
});

/** A folder for pictures, to look at. */
const FOLDER = process.env.ORIEL_PICTURES;
const picture = async (page: Page, name: string) => {
  if (FOLDER) await page.screenshot({ path: join(FOLDER, `${name}.png`) });
};
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const violations = (page: Page | Frame) =>
  page.evaluate(
    `(() => { const module = undefined, exports = undefined; ${axe}; return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))); })()`,
  );

test('an admin makes a schedule, adds somebody, sends a test, and reads what became of it', async () => {
  const admin = await createSignable(world, { roles: ['Admin'] });
  const context = await browser.newContext({
    baseURL: world.url,
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  const { workbookId } = await world.admin.getDashboard({ publicId: 'DemoCommerce' });
  await page.goto(`/d/1/workbooks/${workbookId}`);
  await page.fill('#username', admin.email);
  await page.fill('#password', PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.getByRole('button', { name: 'Schedules' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Every week on Monday at 9:00 AM (Europe/Berlin)').waitFor();
  await dialog.getByText('Off', { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  await picture(page, 'schedules-list');

  // By keys alone: what is wrong is said, and nothing is lost.
  await dialog.getByRole('button', { name: 'New schedule' }).press('Enter');
  await dialog.getByLabel('Name').fill('Month end');
  await dialog.getByLabel('How often').selectOption('CUSTOM');
  await dialog.getByLabel('Cron expression').fill('0 0 30 2 *');
  await dialog.getByLabel('Cron expression').press('Enter');
  await dialog.getByRole('alert').getByText('Cron expression: is never due').waitFor();
  await dialog.getByLabel('How often').selectOption('MONTHLY');
  await dialog.getByLabel('Day of the month').selectOption('31');
  await dialog.getByLabel('Time', { exact: true }).fill('18:30');
  await dialog.getByText('Every month on day 31 at 6:30 PM (Europe/Berlin)').waitFor();
  // What it shows, and when it is sent, with the controls and figures of the dashboard.
  const values = dialog.locator('.values').first();
  await values.locator('summary').click();
  await values.getByRole('checkbox').first().check();
  await values.locator('summary').click();
  await dialog.getByLabel('Send it only when a figure calls for it').check();
  await dialog.getByLabel('When it').selectOption('below');
  await dialog.getByLabel('Limit').fill('1.5');
  expect(await violations(page)).toEqual([]);
  await picture(page, 'schedules-form');
  await dialog.locator('.values').first().scrollIntoViewIfNeeded();
  await picture(page, 'schedules-form-choices');
  await page.setViewportSize(PHONE);
  await page.emulateMedia({ colorScheme: 'dark' });
  await picture(page, 'schedules-form-phone-dark');
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.emulateMedia({ colorScheme: 'light' });
  await dialog.getByRole('button', { name: 'Save' }).click();

  await dialog.getByText('Nobody gets it yet.').waitFor();
  await dialog.getByLabel('Name or email').fill(admin.email);
  await dialog.locator('.found').getByRole('button').first().click();
  await dialog.getByRole('button', { name: `Remove ${admin.email}` }).waitFor();
  await dialog.getByLabel('Kind').selectOption('slack');
  await dialog.getByText('everybody in it sees the owner’s rows').waitFor();
  expect(await violations(page)).toEqual([]);
  await picture(page, 'schedules-recipients');
  await dialog.getByRole('button', { name: 'Back to all schedules' }).click();
  await dialog.getByRole('button', { name: 'Unsubscribe: Month end' }).waitFor();
  const { items } = await world.admin.getNotifications({
    deploymentId: 1,
    dashboardPublicId: 'DemoCommerce',
  });
  const made = items.find(({ name }) => name === 'Month end')!;
  expect(made.condition).toMatchObject({ operator: 'below', value: 1.5 });
  expect(made.filters).toMatchObject([{ operator: 'equals', value: [expect.any(String)] }]);

  await dialog.getByRole('button', { name: 'Actions for Month end' }).click();
  await page.getByRole('menuitem', { name: 'Send me a test now' }).click();
  await page.getByText('Sent: 1. Left out: 0. Failed: 0.').waitFor();
  expect(mails.messages.map(({ to, parsed }) => [to, parsed.subject])).toEqual([
    [[admin.email], 'Month end'],
  ]);
  // The mail in light and dark, as a program shows it that knows both, also for people with disabilities.
  const { html, attachments } = mails.messages[0]!.parsed;
  const image = Buffer.from(attachments[0]!.content as ArrayBuffer).toString('base64');
  const mail = await (await browser.newContext({ viewport: { width: 760, height: 900 } })).newPage();
  await mail.setContent(html!.replace('cid:dashboard', `data:image/png;base64,${image}`));
  for (const colorScheme of ['light', 'dark'] as const) {
    await mail.emulateMedia({ colorScheme });
    // A mail is shown within a page, which has the landmarks.
    const found = (await violations(mail)) as string[];
    expect(found.filter((one) => !/^(landmark-one-main|region):/.test(one))).toEqual([]);
    if (FOLDER) await mail.screenshot({ path: join(FOLDER, `mail-${colorScheme}.png`), fullPage: true });
  }
  await mail.context().close();
  await dialog.getByRole('button', { name: 'Actions for Month end' }).click();
  await page.getByRole('menuitem', { name: 'Runs' }).click();
  await dialog.locator('summary').click();
  await dialog.locator('.deliveries').getByText('Sent').waitFor();
  await page.setViewportSize(PHONE);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await violations(page)).toEqual([]);
  await picture(page, 'schedules-runs-phone-dark');
  await dialog.getByRole('button', { name: 'Back to all schedules' }).click();
  await picture(page, 'schedules-list-phone-dark');
  await dialog.getByRole('button', { name: 'Actions for Month end' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page
    .getByRole('dialog', { name: 'Delete “Month end”?' })
    .getByRole('button', { name: 'Delete' })
    .click();
  await expect.poll(() => dialog.getByText('Month end').count()).toBe(0);
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.count()).toBe(0);
  await page.getByRole('button', { name: 'Download' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download as PNG' }).click(),
  ]);
  expect(readFileSync(await file.path()).toString('latin1', 0, 4)).toBe('\x89PNG');
  expect(errors).toEqual([]);
  await context.close();
});

test('the embedded page gives the dashboard as a picture and as PDF where the host allows it', async () => {
  const weekly = await world.admin.createNotification({
    deploymentId: 1,
    body: {
      dashboardPublicId: 'DemoCommerce',
      ...{ name: 'For viewers', scheduleType: 'WEEKLY', dayOfWeek: 1, hour: 9, allowSubscribe: true },
    },
  });
  const { sessionId } = await world.admin.generateSession({
    body: {
      deploymentId: 1,
      externalId: 'exporter',
      email: 'exporter@example.com',
      embedTenantName: 'acme-corp',
      userAttributes: [{ name: 'region', value: 'EU' }],
    },
  });
  const address = `${world.url}/embed/dashboard/DemoCommerce?session=${sessionId}`;
  const embedding = await embed(browser, host.origin, [`${address}&allowExport=true`]);
  await embedding.heard('dashboard-loaded');
  await picture(embedding.page, 'embedded-buttons');
  for (const [name, magic] of [
    ['PNG', '\x89PNG'],
    ['PDF', '%PDF'],
  ] as const) {
    const [file] = await Promise.all([
      embedding.page.waitForEvent('download'),
      embedding
        .frame()
        .getByRole('button', { name: new RegExp(name) })
        .click(),
    ]);
    expect(readFileSync(await file.path()).toString('latin1', 0, 4)).toBe(magic);
    if (FOLDER) await file.saveAs(join(FOLDER, `dashboard.${name.toLowerCase()}`));
  }
  // Viewers subscribe where a schedule lets them.
  const frame = embedding.frame();
  await frame.getByText('By mail').click();
  await frame.getByLabel('For viewers').click();
  await frame.getByText('You will get it by mail.').waitFor();
  expect(await violations(frame)).toEqual([]);
  await picture(embedding.page, 'embedded-subscribe');
  const recipients = async () =>
    (await world.admin.getRecipients({ deploymentId: 1, id: weekly.id })).items.map((one) => [
      one.email,
      one.isUnsubscribed,
    ]);
  expect(await recipients()).toEqual([['exporter@example.com', false]]);
  await frame.getByLabel('For viewers').click();
  await frame.getByText('You will not get it any more.').waitFor();
  expect(await recipients()).toEqual([['exporter@example.com', true]]);
  await embedding.close();
});

test('a creator in a frame makes schedules for users of their embed tenant, within the cap', async () => {
  await world.admin.updateTenantSettings({ body: { embedNotificationLimit: 1 } });
  const maker = { deploymentId: 1, externalId: 'maker', embedTenantName: 'acme-corp', creatorMode: true };
  const { client } = await world.embedded({ ...maker, email: 'maker@example.com' });
  const { id: workbookId } = await client.createWorkbook({ deploymentId: 1, body: { name: 'Mine' } });
  const position = { x: 0, y: 0, w: 6, h: 2 };
  const text = { id: 'text', type: 'TEXT' as const, position, config: { markdown: '# Hello' } };
  await client.publishDashboard({ deploymentId: 1, workbookId, body: { config: { widgets: [text] } } });
  const { sessionId } = await world.admin.generateSession({ body: maker });
  const address = `${world.url}/embed/d/1/app/workbooks/${workbookId}#session=${sessionId}`;
  const embedding = await embed(browser, host.origin, [address]);
  await embedding.heard('ready');
  const frame = embedding.frame();
  await frame.getByRole('button', { name: 'Schedules' }).click();
  const dialog = frame.getByRole('dialog');
  await dialog.getByRole('button', { name: 'New schedule' }).click();
  await dialog.getByLabel('Name').fill('Weekly');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const userId = dialog.getByLabel('User id');
  await userId.fill('nobody-there');
  await userId.press('Enter');
  await frame.getByText('There is no such embed user').first().waitFor();
  await userId.fill('maker');
  await userId.press('Enter');
  await dialog.getByRole('button', { name: 'Remove maker@example.com' }).waitFor();
  expect(await violations(frame)).toEqual([]);
  await picture(embedding.page, 'schedules-creator');
  await dialog.getByRole('button', { name: 'Back to all schedules' }).click();
  await dialog.getByRole('button', { name: 'New schedule' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText('as many notifications as the account allows').waitFor();
  await embedding.close();
});
