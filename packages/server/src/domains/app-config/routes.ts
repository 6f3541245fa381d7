import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import {
  type AppConfigRow,
  findAppConfig,
  lockAppConfig,
  updateAppConfig,
} from '../tenant-settings/index.ts';
import { changedAppConfig, toReply } from './rules.ts';

const audited = ({ embedding, appConfig }: AppConfigRow) => ({ embedding, ...appConfig });

export const appConfigRoutes = () => [
  handle(operations.getAppConfig, async ({ db }) => toReply(await findAppConfig(db))),

  handle(operations.getAppTheme, async ({ db }) => {
    const { appTheme, applyThemeGlobally } = toReply(await findAppConfig(db));
    return { appTheme, applyThemeGlobally };
  }),

  handle(operations.updateAppConfig, ({ change }, { body }) =>
    change(async (tx) => {
      const before = await lockAppConfig(tx);
      const after = changedAppConfig(before, body);
      await updateAppConfig(tx, after);
      return {
        reply: toReply(after),
        changes: { id: 'account', before: audited(before), after: audited(after) },
      };
    }),
  ),
];
