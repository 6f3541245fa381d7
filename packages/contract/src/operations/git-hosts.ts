import { type TSchema, Type } from 'typebox';
import { BranchName, CommitHash, FilePath } from '../data-model.ts';
import { Deployment } from '../deployments.ts';
import type { ErrorDefinitions } from '../errors.ts';
import { gitHostLimits, remoteErrors, syncErrors } from '../git-hosts.ts';
import { BytesBody } from '../kinds.ts';
import { Nothing, operation } from '../operation.ts';
import { DateTime, Id, Maybe, matching, Name, Nullable, PageInfo, Shape, Url } from '../schemas.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  GitHost: 'Connections to servers that host git repositories, and what is there.',
  'GitHost Connection': 'The repository that the data model of a deployment is one with.',
} satisfies TagDefinitions;

export const errors = {
  git_installation_not_found: { status: 404, message: 'There is no such connection to a git host.' },
  git_installation_in_use: {
    status: 409,
    message: 'Deployments are connected through it, or read dbt projects through it: disconnect them first.',
  },
  git_installation_of_app: {
    status: 409,
    message: 'This connection is one of the GitHub App of this server, and is changed on GitHub.',
  },
  too_many_git_installations: {
    status: 409,
    message: 'There are as many connections to git hosts as are allowed.',
  },
  git_host_refused: {
    status: 409,
    message: 'The git host does not accept the credentials, or they may not do this.',
  },
  git_host_unreachable: { status: 409, message: 'The git host cannot be reached.' },
  git_host_failed: { status: 409, message: 'The git host reports an error.' },
  git_repository_not_found: {
    status: 404,
    message: 'The git host does not have this repository, or does not show it.',
  },
  git_repository_unacceptable: {
    status: 409,
    message: 'The repository holds something that cannot be stored here.',
  },
  git_repository_too_large: { status: 409, message: 'The repository is too large.' },
  git_repository_unrelated: {
    status: 409,
    message:
      'The data model has commits of its own, and the repository has another history: connect an empty repository, or a new deployment.',
  },
  git_history_rewritten: {
    status: 409,
    message: 'Somebody replaced the history of the branch on the git host, which is not followed.',
  },
  git_branch_removed: { status: 409, message: 'The branch is gone from the git host.' },
  git_push_rejected: { status: 409, message: 'The git host did not take the changes.' },
  already_connected: {
    status: 409,
    message: 'The deployment is connected to a repository already: disconnect it first.',
  },
  not_connected: { status: 404, message: 'The deployment is not connected to a repository.' },
  webhook_refused: { status: 401, message: 'The webhook is not signed with the secret of this connection.' },
} as const satisfies ErrorDefinitions;

const Kind = Type.Enum(['github', 'gitlab', 'gitea', 'bitbucket', 'git'], {
  description:
    'What the server is. `git` is any server that speaks git over HTTPS: its repositories cannot be listed or made',
});

const HostUrl = {
  ...Url,
  description: 'The address of the host, without user and password; known for GitHub, GitLab and Bitbucket',
  examples: ['https://git.example.com'],
};

const PRINTABLE = matching('^[\\u0020-\\u007e]+$', 'must have printable ASCII characters only');

const Token = Type.String({
  minLength: 1,
  maxLength: 4096,
  ...PRINTABLE,
  description: 'An access token. It is stored encrypted, and no reply shows it',
  examples: ['a-token-of-the-git-host'],
});

const User = Type.String({
  minLength: 1,
  maxLength: 255,
  ...PRINTABLE,
  description: 'For hosts that want a user beside the token',
});
const InstallationName = { ...Name, description: 'How the connection is called here' };

const InstallationId = { ...Id, description: 'The connection to the git host' };

const Installation = Shape('GitHostInstallationResponse', {
  id: Type.String({ description: 'The same as `installationId`' }),
  installationId: Type.String({ description: 'The number of the connection, as text' }),
  login: Type.String({ description: 'The name that was given to the connection' }),
  avatarUrl: Type.String({ description: 'A picture of the account on the host, or an empty text' }),
  kind: Type.Enum(['github', 'github_app', 'gitlab', 'gitea', 'bitbucket', 'git'], {
    description:
      'What the server is. `github_app`: an account on GitHub that installed the GitHub App of this server',
  }),
  url: Type.String({ description: 'The address of the host' }),
  username: Nullable(Type.String({ description: 'The user beside the token, for hosts that want one' })),
});

const Repository = Shape('GitHostRepoResponse', {
  id: Type.Integer({ description: 'The number that the host gives it' }),
  name: Type.String({ description: 'With its owner, as `connect` takes it', examples: ['acme/model'] }),
  htmlUrl: Type.String({ description: 'The page of the repository' }),
});

/** There are few, so all of them are one page. */
const allOf = <T extends TSchema>(item: T, description: string) => ({
  data: Type.Array(item, { description: 'The same as `items`', deprecated: true }),
  items: Type.Array(item, { description }),
  pageInfo: PageInfo,
});

const account = {
  tag: 'GitHost',
  auth: 'management',
  permission: 'DeploymentsManage',
  scopedKeys: 'refused',
} as const;
export const status = operation({
  ...account,
  id: 'status',
  method: 'GET',
  path: '/api/v1/git-host/status',
  summary: 'Tell whether a git host is connected',
  description:
    'If the server has a GitHub App, the addresses are those at which people install it, and change what it may reach. Otherwise, both are that of the operations on git hosts in the reference of this server.',
  reply: Shape('GitHostConnectStatusResponse', {
    connected: Type.Boolean({ description: 'Whether there is at least one connection' }),
    linkUrl: Type.String({ description: 'Where to connect a git host' }),
    settingsUrl: Type.String({ description: 'Where to change what is connected' }),
  }),
  rate: { max: 60, perSeconds: 60 },
  audit: 'none',
});

export const installations = operation({
  ...account,
  id: 'installations',
  method: 'GET',
  path: '/api/v1/git-host/installations',
  trailingSlash: true,
  summary: 'List the connections to git hosts',
  description:
    'Oldest first. There are few, so they come without pages. If the server has a GitHub App, GitHub is asked where it is installed.',
  reply: Shape('GitHostInstallationsListResponse', allOf(Installation, 'The connections')),
  rate: { max: 60, perSeconds: 60 },
  audit: 'none',
});

export const createGitHostInstallation = operation({
  ...account,
  id: 'createGitHostInstallation',
  method: 'POST',
  path: '/api/v1/git-host/installations',
  summary: 'Connect a git host by a token',
  description:
    'The token is not tried: `testGitHostInstallation` does that. Whoever may connect deployments can then read every repository that the token can read.',
  body: Shape(
    'CreateGitHostInstallationInput',
    {
      name: InstallationName,
      kind: Kind,
      url: Maybe(HostUrl),
      username: Maybe(User),
      token: Token,
    },
    { examples: [{ name: 'acme', kind: 'github', token: 'a-token-of-the-git-host' }] },
  ),
  reply: Installation,
  errors: ['too_many_git_installations'],
  audit: 'gitHostInstallation',
});

export const updateGitHostInstallation = operation({
  ...account,
  id: 'updateGitHostInstallation',
  method: 'PUT',
  path: '/api/v1/git-host/installations/{installationId}',
  summary: 'Change a connection to a git host',
  description:
    'Such as its token, when the one before ends. Absent fields stay as they are. The kind and the address cannot be changed: a token goes only to the address that it was given for.',
  params: { installationId: InstallationId },
  body: Shape(
    'UpdateGitHostInstallationInput',
    {
      name: Type.Optional(InstallationName),
      username: Maybe(User),
      token: Type.Optional(Token),
    },
    { examples: [{ token: 'a-newer-token-of-the-git-host' }] },
  ),
  reply: Installation,
  errors: ['git_installation_not_found', 'git_installation_of_app'],
  audit: 'gitHostInstallation',
});

export const deleteGitHostInstallation = operation({
  ...account,
  id: 'deleteGitHostInstallation',
  method: 'DELETE',
  path: '/api/v1/git-host/installations/{installationId}',
  summary: 'Remove a connection to a git host',
  description: 'Its token is deleted here; revoke it on the host too.',
  params: { installationId: InstallationId },
  reply: Nothing,
  errors: ['git_installation_not_found', 'git_installation_in_use'],
  audit: 'gitHostInstallation',
});

export const testGitHostInstallation = operation({
  ...account,
  id: 'testGitHostInstallation',
  method: 'POST',
  path: '/api/v1/git-host/installations/{installationId}/test',
  summary: 'Try a connection to a git host',
  description:
    'Signs in to the host with the token. With a repository, also reads the list of its branches. With a deployment that is connected through it, has the host send its webhook, where it can be asked to, and waits for it.',
  params: { installationId: InstallationId },
  body: Shape('TestGitHostInstallationInput', {
    repository: Maybe(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Such as `acme/model`',
        examples: ['acme/model'],
      }),
    ),
    deploymentId: Maybe({ ...Id, description: 'The deployment whose webhook is tried' }),
    waitSeconds: Maybe(
      Type.Integer({
        minimum: 1,
        maximum: 30,
        description: 'How long the webhook is waited for; 15 by default',
      }),
    ),
  }),
  optionalBody: true,
  reply: Shape('TestGitHostInstallationResponse', {
    works: Type.Boolean({ description: 'Whether it can be used' }),
    message: Type.String({ description: 'What was found, or what is wrong' }),
  }),
  errors: ['git_installation_not_found', 'deployment_not_found', 'not_connected'],
  rate: { max: 60, perSeconds: 60 },
  audit: 'none',
});

export const repositories = operation({
  ...account,
  id: 'repositories',
  method: 'GET',
  path: '/api/v1/git-host/installations/{installationId}/repositories',
  trailingSlash: true,
  summary: 'List the repositories of a git host',
  description:
    'Those that the token can reach, up to 1000. A host of the kind `git` cannot list them: give the path of the repository to `connect`.',
  params: { installationId: InstallationId },
  reply: Shape('GitHostReposListResponse', allOf(Repository, 'The repositories')),
  errors: ['git_installation_not_found', ...remoteErrors],
  rate: { max: 60, perSeconds: 60 },
  audit: 'none',
});

export const branches = operation({
  ...account,
  id: 'branches',
  method: 'GET',
  path: '/api/v1/git-host/repositories/{owner}/{repo}/branches',
  trailingSlash: true,
  summary: 'List the branches of a repository on a git host',
  description: 'In the order of their names.',
  params: {
    owner: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Whom the repository belongs to',
      examples: ['acme'],
    }),
    repo: Type.String({ minLength: 1, maxLength: 255, description: 'Its name', examples: ['model'] }),
  },
  query: { installationId: InstallationId },
  reply: Shape(
    'GitHostBranchesListResponse',
    allOf(
      Shape('GitHostBranchResponse', {
        name: Type.String({ description: 'The name of the branch' }),
        isDefault: Type.Boolean({ description: 'Whether the repository is shown with this branch' }),
      }),
      'The branches',
    ),
  ),
  errors: ['git_installation_not_found', 'git_repository_too_large', ...remoteErrors],
  rate: { max: 60, perSeconds: 60 },
  audit: 'none',
});

const connectionPath = '/build/api/v1/deployments/{deploymentId}/git-host';
const connection = {
  tag: 'GitHost Connection',
  auth: 'management',
  permission: 'DeploymentsManage',
  params: { deploymentId: Id },
} as const;

export const connect = operation({
  ...connection,
  id: 'connect',
  method: 'POST',
  path: `${connectionPath}/connect`,
  summary: 'Connect the data model of a deployment to a repository',
  description:
    'The history of an existing repository becomes that of the deployment, if the deployment has no commits of its own beside its first. API keys that are scoped to deployments cannot do this, because the repository may be that of another deployment. An empty or new repository gets the data model. From then on, commits and merges on shared branches are pushed, and what others push is fetched and built. The branches for dev mode that belong to one person are not pushed.',
  body: Shape(
    'ConnectGitHostRequest',
    {
      installationId: InstallationId,
      name: Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'The repository with its owner',
        examples: ['acme/model'],
      }),
      isNewRepo: Maybe(Type.Boolean({ description: 'Makes the repository on the host first' })),
      private: Maybe(
        Type.Boolean({ description: 'Whether a new repository is private, as it is by default' }),
      ),
      deployBranchName: Maybe({
        ...BranchName,
        description: 'The branch that is deployed; by default the one that the repository is shown with',
      }),
      branch: Maybe({ ...BranchName, description: 'The same as `deployBranchName`' }),
      deployProjectRoot: Maybe({
        ...FilePath,
        description: 'The folder of the repository that holds the project',
        examples: ['/analytics'],
      }),
      acceptRewritten: Maybe({
        ...CommitHash,
        description:
          'If the deployment was connected to this repository before, and somebody replaced the history of the branch there since: its newest commit, as the error names it. The branch here then gets that history',
      }),
    },
    { examples: [{ installationId: 1, name: 'acme/model', deployBranchName: 'main' }] },
  ),
  reply: Deployment,
  errors: [
    'git_installation_not_found',
    'already_connected',
    'outside_key_scope',
    'branch_not_found',
    'invalid_branch_name',
    ...syncErrors,
  ],
  rate: { max: 60, perSeconds: 60 },
  audit: 'gitHostConnection',
});

const State = Type.Enum(['synced', 'failed'], {
  description: '`failed` if the last try to bring both sides together did not succeed; `message` says why',
});

export const getGitHostConnection = operation({
  ...connection,
  id: 'getGitHostConnection',
  method: 'GET',
  path: `${connectionPath}/connection`,
  summary: 'Get the connection of a deployment to its repository',
  description: 'Tells what the last try to bring both sides together came to.',
  permission: 'SchemaRead',
  reply: Shape('GitHostConnection', {
    installationId: Type.String({ description: 'The connection to the git host' }),
    repository: Type.String({ description: 'With its owner' }),
    url: Type.String({ description: 'The address that is fetched from and pushed to' }),
    state: State,
    message: Nullable(Type.String({ description: 'What is wrong; null if nothing is' })),
    checkedAt: Nullable({ ...DateTime, description: 'When the host was asked last' }),
    webhookUrl: Type.String({ description: 'Give this address to the host, to hear of pushes at once' }),
  }),
  errors: ['not_connected'],
  audit: 'none',
});

export const deleteGitHostConnection = operation({
  ...connection,
  id: 'deleteGitHostConnection',
  method: 'DELETE',
  path: `${connectionPath}/connection`,
  summary: 'Disconnect a deployment from its repository',
  description: 'Both sides keep what they have.',
  reply: Nothing,
  errors: ['not_connected'],
  audit: 'gitHostConnection',
});

export const rotateGitHostWebhookSecret = operation({
  ...connection,
  id: 'rotateGitHostWebhookSecret',
  method: 'POST',
  path: `${connectionPath}/connection/webhook-secret`,
  summary: 'Make the secret that webhooks of the git host are signed with',
  description: 'A former secret ends. The secret is shown once, in this reply.',
  reply: Shape('GitHostWebhookSecret', {
    webhookUrl: Type.String({ description: 'The address for the host' }),
    secret: Type.String({ description: 'The secret for the host' }),
  }),
  errors: ['not_connected'],
  audit: 'gitHostConnection',
});

const header = (description: string) => Type.Optional(Type.String({ maxLength: 4096, description }));

export const receiveGitHostWebhook = operation({
  tag: 'GitHost Connection',
  auth: 'public',
  permission: 'none',
  id: 'receiveGitHostWebhook',
  method: 'POST',
  path: '/api/v1/git-host/webhooks/{webhookId}',
  summary: 'Receive a webhook of a git host',
  description:
    'For git hosts. Takes the signatures of GitHub, Gitea, Forgejo, GitLab (token or signature) and of Standard Webhooks. Keys of Standard Webhooks are the bytes after `whsec_`, in base64. A webhook only makes the server look at the repository: nothing in it is believed. A delivery that was received before is answered, and does nothing.',
  params: {
    webhookId: Type.String({
      minLength: 12,
      maxLength: 12,
      description: 'Names the connection',
      examples: ['aB3dE5gH7jK9'],
    }),
  },
  headers: {
    'x-hub-signature-256': header('The signature of GitHub, Gitea and Forgejo'),
    'x-gitea-signature': header('The signature of Gitea'),
    'x-forgejo-signature': header('The signature of Forgejo'),
    'x-gitlab-token': header('The secret itself, as GitLab sends it'),
    'webhook-id': header('The id of the delivery in Standard Webhooks'),
    'webhook-timestamp': header('The time of the delivery in Standard Webhooks'),
    'webhook-signature': header('The signatures in Standard Webhooks'),
    'x-github-delivery': header('The id of the delivery of GitHub'),
    'x-gitea-delivery': header('The id of the delivery of Gitea'),
    'x-gitlab-event-uuid': header('The id of the delivery of GitLab'),
  },
  body: BytesBody(['application/json', 'application/x-www-form-urlencoded'], gitHostLimits.webhookBytes),
  reply: Nothing,
  errors: ['not_connected', 'webhook_refused'],
  rate: { max: 120, perSeconds: 60 },
  audit: 'none',
});
