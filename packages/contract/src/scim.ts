/** The schemas of SCIM 2.0 (RFC 7643, RFC 7644). */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { InAnyCase, JsonAs } from './kinds.ts';
import { Maybe, Shape } from './schemas.ts';

export const scimLimits = {
  /** The most resources in a page. */
  page: 200,
  /** The largest `startIndex`. Each page counts the resources before it, so a page far down the list is slow. */
  startIndex: 1_000_000,
  /** The most operations in a PATCH. */
  operations: 1000,
  /** The most elements of a list of a user, such as the emails, also while a PATCH is applied. */
  elements: 100,
  /** The most members that a request can name. */
  members: 10_000,
  /** The most members in a reply. A page of groups ends when it has as many. */
  listedMembers: 20_000,
  /** The most groups of a user in a reply. A filter of groups by `members` finds them all. */
  listedGroups: 100,
} as const;

export const scimUrns = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  config: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  search: 'urn:ietf:params:scim:api:messages:2.0:SearchRequest',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
} as const;

/** SCIM's content type. Requests may also use `application/json`. */
export const Scim = <S extends TSchema>(schema: S) => JsonAs('application/scim+json', schema);

export const ScimBody = <S extends TSchema>(schema: S) => InAnyCase(Scim(schema));

/** Clients send attributes that we do not keep. They are accepted and ignored. */
export const Open = <P extends TProperties>(
  title: string,
  properties: P,
  options: { examples?: unknown[] } = {},
) =>
  Type.Object(properties, {
    title,
    additionalProperties: true,
    description: 'Other attributes are accepted and ignored',
    ...options,
  });

const Urns = Type.Array(Type.String());
const SentUrns = (urn: string) =>
  Type.Array(Type.String({ maxLength: 255 }), {
    minItems: 1,
    maxItems: 20,
    description: `Must name \`${urn}\`; others are ignored`,
  });

const Meta = Shape('ScimMeta', {
  resourceType: Type.Optional(Type.String()),
  created: Type.Optional(Type.String({ format: 'date-time' })),
  lastModified: Type.Optional(Type.String({ format: 'date-time' })),
  location: Type.Optional(Type.String()),
  version: Type.Optional(Type.String({ description: 'The `ETag` of the resource' })),
});

const Name = Shape('ScimName', {
  formatted: Type.Optional(Type.String()),
  familyName: Type.Optional(Type.String()),
  givenName: Type.Optional(Type.String()),
  middleName: Type.Optional(Type.String()),
  honorificPrefix: Type.Optional(Type.String()),
  honorificSuffix: Type.Optional(Type.String()),
});

/** `attributes` may leave out everything except `schemas` and `id`. */
export const ScimUser = Shape('ScimUser', {
  schemas: Urns,
  id: Type.String(),
  externalId: Type.Optional(Type.String()),
  userName: Type.Optional(Type.String()),
  name: Type.Optional(Name),
  displayName: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  active: Type.Optional(Type.Boolean()),
  emails: Type.Optional(
    Type.Array(
      Shape('ScimEmail', {
        value: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
        primary: Type.Optional(Type.Boolean()),
      }),
    ),
  ),
  groups: Type.Optional(
    Type.Array(
      Shape('ScimUserGroup', {
        value: Type.Optional(Type.String({ description: 'The id of a group' })),
        $ref: Type.Optional(Type.String()),
        display: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
      }),
      { maxItems: scimLimits.listedGroups },
    ),
  ),
  meta: Type.Optional(Meta),
});

export const ScimGroup = Shape('ScimGroup', {
  schemas: Urns,
  id: Type.String(),
  externalId: Type.Optional(Type.String()),
  displayName: Type.Optional(Type.String()),
  members: Type.Optional(
    Type.Array(
      Shape('ScimMember', {
        value: Type.Optional(Type.String({ description: 'The id of a user' })),
        $ref: Type.Optional(Type.String()),
        display: Type.Optional(Type.String()),
        type: Type.Optional(Type.String()),
      }),
    ),
  ),
  meta: Type.Optional(Meta),
});

/** Entra ID sends texts such as "False". */
const SentBoolean = Type.Optional(
  Type.Unsafe<boolean | string | null>({
    type: ['boolean', 'string', 'null'],
    description: '`true` or `false`, also as text',
  }),
);
const SentText = Maybe(Type.String({ maxLength: 1000 }));

export const ScimUserInput = Open(
  'ScimUserInput',
  {
    schemas: SentUrns(scimUrns.user),
    userName: Type.String({ minLength: 1, maxLength: 255 }),
    externalId: SentText,
    name: Maybe(Type.Object({}, { additionalProperties: true })),
    displayName: SentText,
    title: SentText,
    active: SentBoolean,
    emails: Maybe(
      Type.Array(Type.Object({}, { additionalProperties: true }), { maxItems: scimLimits.elements }),
    ),
  },
  {
    examples: [
      {
        schemas: [scimUrns.user],
        userName: 'ada@example.com',
        name: { givenName: 'Ada', familyName: 'Lovelace' },
        emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
        active: true,
      },
    ],
  },
);

export const ScimGroupInput = Open(
  'ScimGroupInput',
  {
    schemas: SentUrns(scimUrns.group),
    displayName: Type.String({ minLength: 1, maxLength: 1000 }),
    externalId: SentText,
    members: Maybe(
      Type.Array(Type.Object({}, { additionalProperties: true }), { maxItems: scimLimits.members }),
    ),
  },
  { examples: [{ schemas: [scimUrns.group], displayName: 'Analysts', members: [{ value: '2' }] }] },
);

export const ScimPatch = Open(
  'ScimPatch',
  {
    schemas: SentUrns(scimUrns.patch),
    Operations: Type.Array(
      Open('ScimPatchOperation', {
        op: Type.String({ maxLength: 20, description: '`add`, `replace` or `remove`, in any letter case' }),
        path: Maybe(Type.String({ maxLength: 10_000 })),
        value: Type.Optional(Type.Unknown()),
      }),
      { minItems: 1, maxItems: scimLimits.operations },
    ),
  },
  {
    examples: [{ schemas: [scimUrns.patch], Operations: [{ op: 'replace', path: 'active', value: false }] }],
  },
);

export type ScimPatchOperation = Static<typeof ScimPatch>['Operations'][number];

/** RFC 7644 lets clients send numbers below the smallest one. */
const SomeInteger = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum, description }));

const page = {
  filter: Type.Optional(
    Type.String({ description: 'A filter of RFC 7644, such as `userName eq "ada"`', examples: ['id pr'] }),
  ),
  startIndex: SomeInteger(scimLimits.startIndex, 'The first resource of the page, from 1'),
  count: SomeInteger(
    Number.MAX_SAFE_INTEGER,
    `Page size; 100 by default; a larger value than ${scimLimits.page} counts as ${scimLimits.page}; 0 only counts`,
  ),
  sortBy: Type.Optional(Type.String({ maxLength: 255, description: 'An attribute; `id` by default' })),
  sortOrder: Type.Optional(Type.Enum(['ascending', 'descending'])),
};

const names = (description: string) => Type.Optional(Type.String({ maxLength: 4000, description }));
export const shownQuery = {
  attributes: names('The attributes to return, separated by commas; all by default'),
  excludedAttributes: names('The attributes not to return, separated by commas'),
};
export const listQuery = { ...page, ...shownQuery };

const nameList = Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 }));
export const ScimSearch = Open(
  'ScimSearch',
  { schemas: SentUrns(scimUrns.search), ...page, attributes: nameList, excludedAttributes: nameList },
  { examples: [{ schemas: [scimUrns.search], filter: 'meta.created gt "2026-01-01T00:00:00Z"', count: 10 }] },
);

export const ScimList = <T extends TSchema>(title: string, resource: T) =>
  Shape(title, {
    schemas: Urns,
    totalResults: Type.Integer(),
    startIndex: Type.Integer(),
    itemsPerPage: Type.Integer(),
    Resources: Type.Array(resource),
  });

const Supported = Shape('ScimSupported', { supported: Type.Boolean() });

export const ScimConfig = Shape('ScimServiceProviderConfig', {
  schemas: Urns,
  documentationUri: Type.String(),
  patch: Supported,
  bulk: Shape('ScimBulkConfig', {
    supported: Type.Boolean(),
    maxOperations: Type.Integer(),
    maxPayloadSize: Type.Integer(),
  }),
  filter: Shape('ScimFilterConfig', { supported: Type.Boolean(), maxResults: Type.Integer() }),
  changePassword: Supported,
  sort: Supported,
  etag: Supported,
  authenticationSchemes: Type.Array(
    Shape('ScimAuthenticationScheme', {
      type: Type.String(),
      name: Type.String(),
      description: Type.String(),
      primary: Type.Boolean(),
    }),
  ),
  meta: Meta,
});

export const ScimResourceType = Shape('ScimResourceType', {
  schemas: Urns,
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  endpoint: Type.String(),
  schema: Type.String(),
  meta: Meta,
});

export const ScimSchema = Shape('ScimSchema', {
  schemas: Urns,
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  attributes: Type.Array(Type.Object({}, { additionalProperties: true })),
  meta: Meta,
});
