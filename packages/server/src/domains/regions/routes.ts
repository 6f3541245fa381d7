import { operations } from '@oriel/contract';
import { type Cursors, pageById } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { LOCAL_REGION } from './rules.ts';

export const regionRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listRegions, async (_call, { query }) => {
    const { items, pageInfo } = await pageById(cursors, 'regions by id', query, ({ afterId }) =>
      [LOCAL_REGION].filter(({ id }) => id > afterId),
    );
    return { items, data: items, pageInfo };
  }),
];
