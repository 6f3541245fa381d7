/** The account's settings are needed at many requests and change seldom: they are remembered until they change. */
import type { Database } from '../../platform/db/database.ts';
import type { NotifiedCache } from '../../platform/db/notified-cache.ts';
import { findTenantSettings, type TenantSettingsRow } from './store.ts';

export interface TenantSettings {
  current(): TenantSettingsRow | Promise<TenantSettingsRow>;
}

const KEY = 'settings';

export const createTenantSettings = (
  db: Database,
  cache: NotifiedCache<string, TenantSettingsRow>,
): TenantSettings => ({
  current: () => cache.get(KEY) ?? cache.load(KEY, () => findTenantSettings(db)),
});
