/** The areas of the API, as the OpenAPI document groups them. */
export const tags = {
  'API Keys': 'Keys that act with the rights of a user, for all deployments or some.',
  'App Theme': 'How embedded pages look and behave where a session says nothing of its own.',
  'Deployment Creation': 'Making new deployments.',
  Deployments: 'A deployment holds folders, workbooks, reports and a data model.',
  Embed: 'Sessions for viewers outside of the account: minting, exchanging, listing, revoking.',
  'Embed Tenants': 'Customers whose viewers are embedded, with their users and groups.',
  Folders: 'Where workbooks and reports of a deployment lie.',
  'OpenAPI Spec': 'This document.',
  Regions: 'Where deployments can be created.',
  Reports: 'Saved queries of a deployment, with how they are shown.',
  'Resource Policies': 'Who may do what with one deployment, folder, workbook, report or dashboard.',
  Roles: 'Named sets of actions, across the account.',
  'Tenant Settings': 'Settings of the account.',
  'User Attribute Values': 'What single users have as the values of attributes.',
  'User Attributes': 'Attributes of users that data policies can refer to.',
  'User Groups': 'Groups of users of the account.',
  Users: 'The user that the credential belongs to.',
  'Users Admin': 'Creating, changing and deleting users.',
  Workbooks: 'Reports that belong together, with a dashboard.',
  Workspace: 'Folders, workbooks and reports in one list, and moving or deleting several at once.',
} as const satisfies Record<string, string>;

export type Tag = keyof typeof tags;
