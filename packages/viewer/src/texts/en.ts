/** The words of the page around the widgets, beside those of the widgets. */
import { en as widgets } from '@oriel/charts/texts/en';

export const en = {
  ...widgets,
  notFound: 'This dashboard is not available',
  notFoundHint: 'It may have been removed, or you may not have access. Ask the people who run this page.',
  waiting: 'Waiting for the page that shows this dashboard',
  waitingHint: 'Reload the whole page to see the dashboard again.',
  signedOut: 'You are not signed in',
  signedOutHint: 'Sign in, or open the page that shows this dashboard.',
  signIn: 'Sign in',
  ended: 'This session has ended',
  endedHint: 'Reload the whole page to continue.',
  used: 'This link cannot be used any more',
  clearAll: 'Clear all filters',
  downloadAs: 'Download as {format}',
  downloadFailed: 'The file could not be made. Try again later.',
  byMail: 'By mail',
  subscribed: 'You will get it by mail.',
  unsubscribed: 'You will not get it any more.',
  subscribeFailed: 'This could not be changed. Try again later.',
};

export type Texts = typeof en;
export type TextKey = keyof Texts;
