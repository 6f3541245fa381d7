import { operations } from '@oriel/contract';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { LOCAL_REGION } from './rules.ts';

const LIST = 'regions by id';

export const regionRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.listRegions, (_call, { query }) => {
    const afterId = query.after ? (cursors.decode(LIST, query.after)[0] as number) : 0;
    const { items, pageInfo } = toPage(
      [LOCAL_REGION].filter(({ id }) => id > afterId),
      { size: pageSize(query.first), after: query.after, cursorOf: ({ id }) => cursors.encode(LIST, [id]) },
    );
    return { items, data: items, pageInfo };
  }),
];
