import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Nullable, Shape } from '../schemas.ts';

export const errors = {
  job_not_found: { status: 404, message: 'There is no such job.' },
  job_not_retriable: {
    status: 409,
    message: 'Only a job that failed, or that waits for its next attempt, can be tried again.',
  },
  job_queued_again: {
    status: 409,
    message: 'The schedule of this job has a newer job that waits or runs, so this one is not needed.',
  },
} as const satisfies ErrorDefinitions;

const JobState = Type.Enum(['waiting', 'running', 'done', 'failed'], {
  description: '`failed` was given up after its last attempt',
});

const Job = Shape('Job', {
  id: { ...Id, description: 'The number of the job' },
  kind: Type.String({ description: 'What it does' }),
  lane: Type.String({ description: 'Jobs of one lane wait for each other' }),
  state: JobState,
  deploymentId: Nullable({ ...Id, description: 'The deployment that it is about; null if it is about none' }),
  schedule: Nullable(
    Type.String({ description: 'The schedule that it comes from; null if a request made it' }),
  ),
  attempts: Type.Integer({ minimum: 0, description: 'How often it was tried' }),
  maxAttempts: Type.Integer({ minimum: 1, description: 'After so many attempts it is given up' }),
  lastError: Nullable(Type.String({ description: 'Why the last attempt failed; null if it did not' })),
  done: Nullable(Type.Number({ description: 'How much of it is done, if it says so' })),
  total: Nullable(Type.Number({ description: 'How much there is to do, if it says so' })),
  runAt: { ...DateTime, description: 'When it is due, or was' },
  createdAt: { ...DateTime, description: 'When it was queued' },
  finishedAt: Nullable({ ...DateTime, description: 'When it ended; null if it has not' }),
});

const common = { tag: 'Operating', auth: 'management', permission: 'All', scopedKeys: 'refused' } as const;

export const listJobs = operation({
  ...common,
  id: 'listJobs',
  method: 'GET',
  path: '/api/v1/jobs',
  summary: 'List jobs',
  description: 'Newest first. A job that ended is listed for seven days.',
  query: {
    state: Maybe(JobState),
    kind: Maybe(Type.String({ maxLength: 100, description: 'Only jobs of this kind' })),
    deploymentId: Maybe({ ...Id, description: 'Only jobs about this deployment' }),
    ...cursorQuery,
  },
  reply: CursorPage('JobsResponse', Job),
  audit: 'none',
});

export const retryJob = operation({
  ...common,
  id: 'retryJob',
  method: 'POST',
  path: '/api/v1/jobs/{id}/retry',
  summary: 'Try a job again now',
  description:
    'A job that failed goes back into the queue with all its attempts. A job that waits for its next attempt is due at once.',
  params: { id: { ...Id, description: 'The number of the job' } },
  reply: Job,
  errors: ['job_not_found', 'job_not_retriable', 'job_queued_again'],
  audit: 'job',
});
