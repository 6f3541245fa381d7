import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module } from '../../platform/module.ts';
import type { ForgottenPasswords } from './forgotten.ts';
import type { PasswordLinks } from './password-links.ts';
import { passwordLinkRoutes } from './routes.ts';
import { deleteExpiredLinks } from './store.ts';

export { createForgottenPasswords, type ForgottenPasswords, SAME_LINK_MINUTES } from './forgotten.ts';
export { MAIL_SECRET } from './mails.ts';
export {
  type CreatedLink,
  createPasswordLinks,
  isWholeLink,
  LINK_PATHS,
  type PasswordLinks,
} from './password-links.ts';
export type { LinkRow } from './store.ts';

export const passwordLinkUpkeep = expirySchedule('password-links.delete-expired', 12, [deleteExpiredLinks]);

export const passwordLinks = (links: PasswordLinks, forgotten: ForgottenPasswords): Module => ({
  routes: passwordLinkRoutes(links),
  jobs: [...links.jobs, ...forgotten.jobs],
  schedules: [passwordLinkUpkeep],
});
