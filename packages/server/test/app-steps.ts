/** What people do in the app, by roles and names, in a page or in a frame of another product. */
import type { Frame, Page } from 'playwright-core';

/** Asks for these fields of a view, and saves the question in a new workbook of the same name. Begins at a new question. */
export async function saveQuestion(at: Page | Frame, view: RegExp, fields: string[], name: string) {
  await at.getByRole('button', { name: view }).first().click();
  for (const field of fields) {
    await at.getByRole('searchbox', { name: 'Search fields' }).fill(field);
    await at
      .getByRole('button', { name: `Add ${field}`, exact: true })
      .first()
      .click();
  }
  await at.getByRole('tab', { name: 'Chart' }).waitFor();
  await at.getByRole('button', { name: 'Save' }).first().click();
  const dialog = at.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await at.waitForURL(/\/workbooks\/\d+\/reports\/\d+$/);
}

/** Puts the report of this name on the dashboard, and publishes it. Begins in the editor. */
export async function publishWith(at: Page | Frame, report: string) {
  await at.getByRole('button', { name: report, exact: true }).first().click();
  await at.getByRole('group', { name: new RegExp(`^${report}, `) }).waitFor();
  await at.getByRole('button', { name: 'Publish' }).click();
  const dialog = at.getByRole('dialog');
  await dialog.getByText('published for the first time').waitFor();
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await at.getByText('Viewers see version 1').waitFor();
}

/** Shares what is open with whom the search finds first. */
export async function shareWith(at: Page | Frame, name: string) {
  await at.getByRole('button', { name: 'Share…' }).click();
  const dialog = at.getByRole('dialog');
  await dialog.getByRole('searchbox').fill(name);
  await dialog.getByRole('button', { name: new RegExp(`^${name}`) }).click();
  await dialog.getByRole('button', { name: `Remove ${name}` }).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
}
