import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import {
  findTenantSettings,
  lockTenantSettings,
  type TenantSettingsRow,
  updateEmbedding,
} from '../tenant-settings/index.ts';
import { changedEmbedding, toEmbedSettings } from './rules.ts';

const toReply = (embedding: TenantSettingsRow['embedding']) => ({
  applyThemeGlobally: false,
  embedding: toEmbedSettings(embedding),
});

export const appConfigRoutes = () => [
  handle(operations.getAppConfig, async ({ db }) => toReply((await findTenantSettings(db)).embedding)),

  handle(operations.updateAppConfig, ({ change }, { body }) =>
    change(async (tx) => {
      const { embedding: before } = await lockTenantSettings(tx);
      const after = changedEmbedding(before, body.embedding);
      await updateEmbedding(tx, after);
      return {
        reply: toReply(after),
        changes: { id: 'account', before: { embedding: before }, after: { embedding: after } },
      };
    }),
  ),
];
