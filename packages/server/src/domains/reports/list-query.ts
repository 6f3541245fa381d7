/** Reads the query of a request for a list of reports. */
import type { operations, QueryOf } from '@oriel/contract';
import type { Caller } from '../../platform/auth/actor.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageSize } from '../../platform/http/pages.ts';
import { embedTenantOf, type Viewer, viewerOf } from '../access/index.ts';

export type SortBy = 'name' | 'createdAt' | 'updatedAt' | 'lastViewedAt';
export type SortDirection = 'ASC' | 'DESC';

export interface ReportFilter {
  folderId: number | null;
  workbookId: number | null;
  externalWorkbookId: string | null;
  search: string | null;
  embedTenant: string | null;
}

export interface ReportQuery {
  viewer: Viewer;
  filter: ReportFilter;
  sortBy: SortBy;
  direction: SortDirection;
  /** The sort key and id of the row before the page. */
  after: [key: string, id: number] | null;
  /** Rows to read: one more than the page holds if the page has a cursor. */
  limit: number;
  offset: number;
}

export interface ListRequest extends ReportQuery {
  /** The name that cursors of this list contain. A cursor of another list is refused. */
  list: string;
  size: number;
  hasCursor: boolean;
}

/** The place of a report in its list. The key is the text of the sort column; times have microseconds. */
export interface Position {
  id: number;
  key: string;
}

type ListQuery = QueryOf<typeof operations.getReports>;

export function readListRequest(
  actor: Caller,
  deploymentId: number,
  asked: ListQuery,
  cursors: Cursors,
): ListRequest {
  const sortBy = asked.sortBy ?? 'createdAt';
  const byPage = asked.limit != null || asked.page != null;
  const byCursor = asked.first !== undefined || asked.after !== undefined;
  if (byPage && byCursor) throw new ApiError('mixed_pagination');
  if (sortBy === 'lastViewedAt' && byCursor) throw new ApiError('cursor_unsupported');

  // By default names ascend and times descend.
  const direction = asked.sortDirection ?? (sortBy === 'name' ? 'ASC' : 'DESC');
  const list = `reports by ${sortBy} ${direction}`;
  const hasCursor = !byPage && sortBy !== 'lastViewedAt';
  const size = hasCursor ? pageSize(asked.first) : (asked.limit ?? pageSize(undefined));
  return {
    viewer: viewerOf(actor, deploymentId),
    filter: {
      folderId: asked.folderId ?? null,
      workbookId: asked.workbookId ?? null,
      externalWorkbookId: asked.externalWorkbookId ?? null,
      search: asked.search ?? null,
      embedTenant: embedTenantOf(actor, asked.embedTenantName),
    },
    sortBy,
    direction,
    after: asked.after ? (cursors.decode(list, asked.after) as [string, number]) : null,
    limit: hasCursor ? size + 1 : size,
    offset: ((asked.page ?? 1) - 1) * size,
    list,
    size,
    hasCursor,
  };
}
