import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module } from '../../platform/module.ts';
import type { PasswordLinks } from './password-links.ts';
import { passwordLinkRoutes } from './routes.ts';
import { deleteExpiredLinks } from './store.ts';

export {
  type CreatedLink,
  createPasswordLinks,
  isWholeLink,
  LINK_PATHS,
  type PasswordLinks,
} from './password-links.ts';
export type { LinkRow } from './store.ts';

export const passwordLinkUpkeep = expirySchedule('password-links.delete-expired', 12, [deleteExpiredLinks]);

export const passwordLinks = (links: PasswordLinks): Module => ({
  routes: passwordLinkRoutes(links),
  schedules: [passwordLinkUpkeep],
});
