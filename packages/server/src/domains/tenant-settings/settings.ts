/** Many requests need the settings of the account, which seldom change. They stay in memory until they change. */
import type { Platform } from '../../platform/module.ts';
import { findTenantSettings, type TenantSettingsRow } from './store.ts';

export interface TenantSettings {
  current(): TenantSettingsRow | Promise<TenantSettingsRow>;
}

const KEY = 'settings';

export function createTenantSettings({
  essential,
  remember,
}: Pick<Platform, 'essential' | 'remember'>): TenantSettings {
  const remembered = remember<string, TenantSettingsRow>(() => ['tenant-settings']);
  return {
    current: () => remembered.get(KEY) ?? remembered.load(KEY, () => findTenantSettings(essential)),
  };
}
