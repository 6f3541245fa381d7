/** What the fields of SCIM mean, as RFC 7643 and RFC 7644 define them. */
import type { FieldWords } from './index.ts';

const schemas = 'The URNs of the schemas that the object follows';
const meta = 'What the server notes about the resource';
const externalId = 'The id in the directory of the client';
const list = {
  schemas,
  totalResults: 'How many resources match on all pages together',
  startIndex: 'The first resource of this page, from 1',
  itemsPerPage: 'How many resources are on this page',
  Resources: 'The resources of this page',
};
const user = {
  schemas,
  id: 'The id that this server gave the user',
  externalId,
  userName: 'What the person signs in with; unique, whatever the case of its letters',
  name: 'The parts of the name',
  displayName: 'The name that others see',
  title: 'The role of the person in their company',
  meta,
  active: 'False deactivates the user, so that all credentials are refused',
  emails: 'The primary one, or else the first one, is the email of the user',
  groups: 'The groups of the user; the members of the groups change them',
};
const group = {
  schemas,
  id: 'The id that this server gave the group',
  externalId,
  meta,
  displayName: 'The name of the group, unique in the account',
  members: 'The users in the group, each with its id as `value`',
};
const supported = 'Whether the server can do this';

export const scim: FieldWords = {
  ScimMeta: {
    resourceType: 'The kind of resource',
    created: 'When it was made',
    lastModified: 'When it was changed last',
    location: 'The address of the resource',
  },
  ScimName: {
    formatted: 'The whole name, as it is written',
    familyName: 'The name that is shared with relatives, where there is one',
    givenName: 'The first name; it is what colleagues see',
    middleName: 'Further names between the two',
    honorificPrefix: 'What stands before the name, such as `Dr.`',
    honorificSuffix: 'What stands after the name, such as `III`',
  },
  ScimUser: user,
  ScimUserInput: user,
  ScimEmail: {
    value: 'The address',
    type: 'What the address is for, such as `work`',
    primary: 'Whether it is the one to use',
  },
  ScimGroup: group,
  ScimGroupInput: group,
  ScimMember: {
    $ref: 'The address of the user',
    display: 'The name of the user, for people',
    type: 'Always `User`',
  },
  ScimUserGroup: {
    $ref: 'The address of the group',
    display: 'The name of the group',
    type: 'Always `direct`',
  },
  ScimGroups: list,
  ScimUsers: list,
  ScimResourceTypes: list,
  ScimSchemas: list,
  ScimPatch: { schemas, Operations: 'The changes, applied in their order; all of them or none' },
  ScimPatchOperation: {
    path: 'The attribute that changes, such as `members[value eq "2"]`; without it, `value` holds attributes',
    value: 'The new value; a `remove` needs none',
  },
  ScimSearch: {
    schemas,
    sortOrder: '`ascending` by default',
    attributes: 'The attributes to return; all by default',
    excludedAttributes: 'The attributes not to return',
  },
  ScimServiceProviderConfig: {
    schemas,
    documentationUri: 'Where people read about it',
    patch: 'Whether single attributes can be changed',
    bulk: 'Whether one request can hold several others',
    filter: 'Whether lists can be filtered, and how much they return',
    changePassword: 'Whether passwords can be set',
    sort: 'Whether lists can be sorted',
    meta,
    etag: 'Whether resources have versions',
    authenticationSchemes: 'How clients say who they are',
  },
  ScimSupported: { supported },
  ScimBulkConfig: {
    supported,
    maxOperations: 'How many requests one may hold',
    maxPayloadSize: 'How many bytes one may have',
  },
  ScimFilterConfig: { supported, maxResults: 'How many resources a page has at most' },
  ScimAuthenticationScheme: {
    type: 'The scheme, as RFC 7643 names it',
    name: 'The scheme, for people',
    description: 'How to get and send a credential',
    primary: 'Whether it is the one to use',
  },
  ScimResourceType: {
    schemas,
    id: 'What addresses call it',
    name: 'The kind of resource',
    description: 'What it stands for, for people',
    meta,
    endpoint: 'The path of its list',
    schema: 'The URN of its main schema',
  },
  ScimSchema: {
    schemas,
    id: 'The URN of the schema',
    name: 'The kind of resource that it describes',
    description: 'What it stands for, for people',
    meta,
    attributes: 'The attributes that the server keeps, as RFC 7643 describes attributes',
  },
};
