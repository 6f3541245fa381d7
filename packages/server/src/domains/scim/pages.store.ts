/** Pages of SCIM: by position, with the number of all results (RFC 7644, 3.4.2). */
import { scimLimits, scimUrns } from '@oriel/contract';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { conditionOf, type FilterableResource, orderOf } from './filter.store.ts';
import { parseFilter } from './filter.ts';
import type { PageOf } from './users.store.ts';

export interface ListQuery {
  filter?: string;
  startIndex?: number;
  count?: number;
  sortBy?: string;
  sortOrder?: 'ascending' | 'descending';
}

const DEFAULT_COUNT = 100;

/** Numbers below the smallest one count as the smallest one, as the RFC says. */
export function pageOf(query: ListQuery, resource: FilterableResource, id: Sql): PageOf {
  const { filter, startIndex = 1, count = DEFAULT_COUNT, sortBy, sortOrder } = query;
  return {
    where: filter === undefined ? sql`true` : conditionOf(parseFilter(filter), resource),
    order: orderOf(sortBy, sortOrder === 'descending', resource, id),
    offset: Math.max(startIndex, 1) - 1,
    limit: Math.min(Math.max(count, 0), scimLimits.page),
  };
}

export const listReply = <R>(resources: R[], totalResults: number, offset = 0) => ({
  schemas: [scimUrns.list as string],
  totalResults,
  startIndex: offset + 1,
  itemsPerPage: resources.length,
  Resources: resources,
});

export const userPage = (query: ListQuery, resource: FilterableResource) =>
  pageOf(query, resource, sql`u.id`);
export const groupPage = (query: ListQuery, resource: FilterableResource) =>
  pageOf(query, resource, sql`g.id`);
