/**
 * What to enter at the providers, beside the names that their pages have. These names are not translated: they are looked for
 * on a page of the provider. `base` and `token` stand for the values of this server.
 */
type AttributeMeaning =
  | 'mapUsername'
  | 'mapEmail'
  | 'mapFirstName'
  | 'mapKept'
  | 'mapTitle'
  | 'mapExternalId'
  | 'mapActive'
  | 'mapGroup'
  | 'mapMembers';

export interface ScimProvider {
  title: string;
  /** The way to the page. */
  place: string;
  fields: readonly (readonly [label: string, value: string])[];
  choices: readonly (readonly [label: string, value: string])[];
  mapping: readonly (readonly [theirs: string, attribute: string, ours: AttributeMeaning])[];
}

export const PROVIDERS: Record<'okta' | 'entra', ScimProvider> = {
  okta: {
    title: 'Okta',
    place: 'Applications › Provisioning › Integration',
    fields: [
      ['SCIM connector base URL', 'base'],
      ['Unique identifier field for users', 'userName'],
      ['Authentication Mode', 'HTTP Header'],
      ['Authorization: Bearer', 'token'],
    ],
    choices: [
      [
        'Supported provisioning actions',
        'Import New Users and Profile Updates · Push New Users · Push Profile Updates · Push Groups',
      ],
      ['Provisioning to App', 'Create Users · Update User Attributes · Deactivate Users'],
    ],
    mapping: [
      ['user.login', 'userName', 'mapUsername'],
      ['user.email', 'emails[type eq "work"].value', 'mapEmail'],
      ['user.firstName', 'name.givenName', 'mapFirstName'],
      ['user.lastName', 'name.familyName', 'mapKept'],
      ['user.displayName', 'displayName', 'mapKept'],
      ['user.title', 'title', 'mapTitle'],
      ['user.id', 'externalId', 'mapExternalId'],
    ],
  },
  entra: {
    title: 'Microsoft Entra ID',
    place: 'Enterprise applications › Provisioning › Admin credentials',
    fields: [
      ['Provisioning Mode', 'Automatic'],
      ['Tenant URL', 'base'],
      ['Secret Token', 'token'],
    ],
    choices: [
      ['Target Object Actions', 'Create · Update · Delete'],
      ['Matching attribute of users', 'userName'],
      ['Matching attribute of groups', 'displayName'],
      ['Scope', 'Sync only assigned users and groups'],
    ],
    mapping: [
      ['userPrincipalName', 'userName', 'mapUsername'],
      ['Switch([IsSoftDeleted], , "False", "True", "True", "False")', 'active', 'mapActive'],
      ['mail', 'emails[type eq "work"].value', 'mapEmail'],
      ['givenName', 'name.givenName', 'mapFirstName'],
      ['surname', 'name.familyName', 'mapKept'],
      ['displayName', 'displayName', 'mapKept'],
      ['jobTitle', 'title', 'mapTitle'],
      ['objectId', 'externalId', 'mapExternalId'],
      ['displayName (group)', 'displayName (group)', 'mapGroup'],
      ['members', 'members', 'mapMembers'],
    ],
  },
};
