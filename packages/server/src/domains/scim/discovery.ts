/** What a client can ask about this service (RFC 7643, 5 to 7). */
import { scimLimits, scimUrns } from '@oriel/contract';

type Attribute = Record<string, unknown>;

/** The defaults of RFC 7643, 2.2, are written out, because clients read them. */
const attribute = (name: string, description: string, other: Attribute = {}): Attribute => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...other,
});

const complex = (subAttributes: Attribute[], other: Attribute = {}): Attribute => ({
  type: 'complex',
  subAttributes,
  ...other,
});

const readOnly = { mutability: 'readOnly' };

const userAttributes = [
  attribute('userName', 'The username, compared without case.', { required: true, uniqueness: 'server' }),
  attribute(
    'name',
    'The parts of the name.',
    complex([
      attribute('formatted', 'The whole name, as it is shown.'),
      attribute('familyName', 'The family name.'),
      attribute('givenName', 'The given name.'),
      attribute('middleName', 'The middle names.'),
      attribute('honorificPrefix', 'What stands before the name, such as Dr.'),
      attribute('honorificSuffix', 'What stands behind the name, such as III.'),
    ]),
  ),
  attribute('displayName', 'The name that people see.'),
  attribute('title', 'The title, such as Vice President.'),
  attribute('active', 'A user who is not active cannot sign in or use keys.', { type: 'boolean' }),
  attribute(
    'emails',
    'The primary email. Other emails are accepted and ignored. Only a user whose `userName` is an email address can be created without.',
    complex(
      [
        attribute('value', 'The address, which no other user has. Emails without are ignored.', {
          required: true,
          uniqueness: 'server',
        }),
        attribute('type', 'Always `work`.', { canonicalValues: ['work'] }),
        attribute('primary', 'Always true.', { type: 'boolean' }),
      ],
      { multiValued: true, required: true },
    ),
  ),
  attribute(
    'groups',
    `The groups of the user, at most ${scimLimits.listedGroups}. The members of the groups change them.`,
    complex(
      [
        attribute('value', 'The id of the group.', { caseExact: true, ...readOnly }),
        attribute('$ref', 'The address of the group.', {
          type: 'reference',
          referenceTypes: ['Group'],
          caseExact: true,
          ...readOnly,
        }),
        attribute('display', 'The name of the group.', readOnly),
        attribute('type', 'Always `direct`.', { canonicalValues: ['direct'], ...readOnly }),
      ],
      { multiValued: true, ...readOnly },
    ),
  ),
];

const groupAttributes = [
  attribute('displayName', 'The name of the group, compared without case.', {
    required: true,
    uniqueness: 'server',
  }),
  attribute(
    'members',
    'The users in the group.',
    complex(
      [
        attribute('value', 'The id of the user.', {
          required: true,
          caseExact: true,
          mutability: 'immutable',
        }),
        attribute('$ref', 'The address of the user, if it is sent.', {
          type: 'reference',
          referenceTypes: ['User'],
          caseExact: true,
          mutability: 'immutable',
        }),
        attribute('display', 'The username.', readOnly),
        attribute('type', 'Always `User`.', { canonicalValues: ['User'], mutability: 'immutable' }),
      ],
      { multiValued: true },
    ),
  ),
];

export const schemas = (baseUrl: string) =>
  [
    { id: scimUrns.user, name: 'User', description: 'A person of the account', attributes: userAttributes },
    { id: scimUrns.group, name: 'Group', description: 'A group of people', attributes: groupAttributes },
  ].map((schema) => ({
    schemas: [scimUrns.schema as string],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }));

export const resourceTypes = (baseUrl: string) =>
  [
    { id: 'User', endpoint: '/Users', schema: scimUrns.user, description: 'People of the account' },
    { id: 'Group', endpoint: '/Groups', schema: scimUrns.group, description: 'Groups of people' },
  ].map((type) => ({
    schemas: [scimUrns.resourceType as string],
    name: type.id,
    ...type,
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${type.id}` },
  }));

export const serviceProviderConfig = (baseUrl: string, docsUrl: string) => ({
  schemas: [scimUrns.config as string],
  documentationUri: docsUrl,
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: scimLimits.page },
  changePassword: { supported: false },
  sort: { supported: true },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'An API key of an admin, sent as `Authorization: Bearer sk-…` or `Api-Key sk-…`',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
});
