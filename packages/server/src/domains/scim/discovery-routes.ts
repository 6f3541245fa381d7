import { operations } from '@oriel/contract';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { resourceTypes, schemas, serviceProviderConfig } from './discovery.ts';
import { listReply } from './pages.store.ts';

export function scimDiscoveryRoutes(baseUrl: string, docsUrl: string) {
  const allSchemas = schemas(baseUrl);
  const allTypes = resourceTypes(baseUrl);
  const config = serviceProviderConfig(baseUrl, docsUrl);
  const unfiltered =
    <R>(reply: R) =>
    (_call: unknown, { query }: { query: { filter?: string } }) => {
      if (query.filter !== undefined) throw new ApiError('scim_filter_not_supported');
      return reply;
    };
  return [
    handle(operations.getScimConfig, unfiltered(config)),
    handle(operations.listScimSchemas, unfiltered(listReply(allSchemas, allSchemas.length))),
    handle(operations.getScimSchema, (_, { params }) =>
      found(
        allSchemas.find(({ id }) => id === params.id),
        'scim_schema_not_found',
      ),
    ),
    handle(operations.listScimResourceTypes, unfiltered(listReply(allTypes, allTypes.length))),
    handle(operations.getScimResourceType, (_, { params }) =>
      found(
        allTypes.find(({ id }) => id === params.id),
        'scim_schema_not_found',
      ),
    ),
    handle(operations.postScimBulk, () => {
      throw new ApiError('scim_bulk_not_supported');
    }),
    handle(operations.postScimSearch, () => {
      throw new ApiError('scim_search_not_supported');
    }),
  ];
}
