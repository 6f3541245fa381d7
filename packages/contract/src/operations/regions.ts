import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { cursorQuery, Id, Maybe, PageInfo, Shape } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Regions: 'The regions in which deployments can be created.',
} satisfies TagDefinitions;

export const errors = {
  region_not_found: { status: 400, message: 'There is no such region.' },
} as const satisfies ErrorDefinitions;

const Region = Shape('RegionResponse', {
  id: Id,
  name: Type.String(),
  title: Maybe(Type.String()),
  provider: Maybe(Type.String()),
  isDedicated: Maybe(Type.Boolean()),
  isHybrid: Maybe(Type.Boolean()),
  isPublic: Maybe(Type.Boolean()),
  useAiEngineer: Maybe(Type.Boolean()),
});

export const listRegions = operation({
  id: 'listRegions',
  tag: 'Regions',
  method: 'GET',
  path: '/api/v1/regions',
  trailingSlash: true,
  summary: 'List the regions in which a deployment can be created',
  description: 'A self-hosted installation has one.',
  auth: 'management',
  permission: 'none',
  query: cursorQuery,
  reply: Shape('RegionsListResponse', {
    items: Type.Array(Region),
    data: Type.Array(Region, { deprecated: true, description: 'The same as `items`' }),
    pageInfo: PageInfo,
  }),
  scopedKeys: 'allowed',
  audit: 'none',
});
