/** Many requests need the settings of the account, which seldom change. They stay in memory until they change. */
import type { Platform } from '../../platform/module.ts';
import { findTenantSettings, type TenantSettingsRow } from './store.ts';

export interface TenantSettings {
  current(): TenantSettingsRow | Promise<TenantSettingsRow>;
}

const KEY = 'settings';

export function createTenantSettings({
  essential,
  createCache,
}: Pick<Platform, 'essential' | 'createCache'>): TenantSettings {
  const cache = createCache<string, TenantSettingsRow>(() => ['tenant-settings']);
  return {
    current: () => cache.get(KEY) ?? cache.load(KEY, () => findTenantSettings(essential)),
  };
}
