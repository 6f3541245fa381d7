/** One answer to why a viewer in a page of a host sees a dashboard, and rows in it, or not. */
import { Type } from 'typebox';
import { ShownValue, UserAttributeType } from '../attributes.ts';
import { operation } from '../operation.ts';
import { open } from '../query-replies.ts';
import { EmbedTenantName, Id, Maybe, Nullable, Shape } from '../schemas.ts';

const REASONS = [
  'tenant_unknown',
  'viewer_unknown',
  'viewer_deactivated',
  'sessions_revoked',
  'model_not_built',
  'not_published',
  'embedding_off',
  'no_access_entry',
  'access_refused',
  'cube_closed',
  'no_policy_matches',
  'attribute_missing',
  'rows_filtered',
  'members_hidden',
  'query_refused',
] as const;

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

const Reason = Shape('ViewerReason', {
  code: Type.Enum([...REASONS], {
    description:
      'What it is. `rows_filtered` hides only rows that differ, `sessions_revoked` ends with the next session, and `viewer_unknown` means that the defaults of all attributes count. All others hide the dashboard or rows of it',
  }),
  message: Type.String({ description: 'The same in words' }),
  cube: Type.Optional(Type.String({ description: 'The cube or view that it is about' })),
  attribute: Type.Optional(
    Type.String({ description: 'The attribute whose value is missing or decides, if there is one' }),
  ),
  groups: texts('The groups of policies; the viewer belongs to none of them'),
  members: texts('The members that it is about'),
  values: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      description: 'The values that rows must match',
    }),
  ),
});
const reasons = (description: string) => Type.Array(Reason, { description });
const names = (description: string) => Type.Array(Type.String(), { description });

export const explainViewer = operation({
  id: 'explainViewer',
  tag: 'Embed',
  method: 'POST',
  path: '/api/v1/deployments/{deploymentId}/explain-viewer',
  summary: 'Explain which dashboards and rows a viewer sees, and why not',
  description:
    'For a viewer as the server knows them now: for each dashboard whether they see it and whether its queries can show them rows, with everything that is in the way. Queries of up to 50 published dashboards, and 100 different ones, are planned. None is run.',
  auth: 'management',
  permission: 'All',
  timeoutMs: 60_000,
  params: { deploymentId: Id },
  body: Shape(
    'ExplainViewerInput',
    {
      embedTenantName: EmbedTenantName,
      externalId: Type.String({ minLength: 1, maxLength: 255, description: 'The viewer in your product' }),
      creatorMode: Maybe(Type.Boolean({ description: 'As in a session in creator mode; false by default' })),
      securityContext: Maybe(open('What the session gives; none by default')),
      workbookId: Maybe({ ...Id, description: 'Only the dashboard of this workbook' }),
    },
    { examples: [{ embedTenantName: 'acme-corp', externalId: 'customer-42' }] },
  ),
  reply: Shape('ViewerExplanation', {
    viewer: Shape(
      'ExplainedEmbedViewer',
      {
        id: Nullable({ ...Id, description: 'The number of the user; null if they never came' }),
        embedTenantName: Type.String({ description: 'The customer that they belong to' }),
        externalId: Type.String({ description: 'As it was given' }),
        groups: names('The groups in force, which policies see'),
        tenantGroups: names('The groups that policies see as `tenant:<name>`'),
        userAttributes: Type.Array(
          Shape('ExplainedAttribute', {
            id: { ...Id, description: 'The number of the attribute' },
            name: Type.String({ description: 'As policies name it' }),
            type: UserAttributeType,
            value: { ...ShownValue, description: 'The value that counts; null if there is none' },
            source: Type.Enum(['stored', 'default', 'none'], { description: 'Where the value is from' }),
          }),
          { description: 'Every attribute with the value that counts' },
        ),
        liveSessions: Type.Integer({ minimum: 0, description: 'How many sessions of theirs work here now' }),
        revokedSessions: Type.Integer({
          minimum: 0,
          description: 'How many that would still work were revoked',
        }),
      },
      { description: 'The viewer, as policies see them' },
    ),
    reasons: reasons('What concerns all dashboards'),
    dashboards: Type.Array(
      Shape('ExplainedDashboard', {
        workbookId: { ...Id, description: 'The number of its workbook' },
        publicId: Nullable(Type.String({ description: 'For its address; null if it has none yet' })),
        name: Type.String({ description: 'The name of its workbook' }),
        isSeen: Type.Boolean({ description: 'Whether the viewer can open it' }),
        rows: Type.Enum(['all', 'filtered', 'some', 'none', 'unknown'], {
          description:
            'What policies leave of the rows of its queries: `some` if a part of the queries shows none, `unknown` if none was planned, as for SQL',
        }),
        reasons: reasons('What is in the way'),
      }),
      { description: 'Those that are or were published; those that the viewer sees come first' },
    ),
    isComplete: Type.Boolean({
      description: 'False if there are more dashboards than 200, or more queries than are planned',
    }),
  }),
  errors: ['workbook_not_found', 'source_not_configured'],
  audit: 'none',
});
