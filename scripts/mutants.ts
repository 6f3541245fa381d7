/**
 * Guarantees, each with a change of the code that breaks it. `npm run test:mutants` makes each change in a copy and
 * expects one of the tests to fail. Add each new guarantee that matters to this list.
 */

export interface Mutant {
  /** The guarantee that the change breaks. */
  name: string;
  file: string;
  /** A text that is in the file exactly once. */
  from: string;
  to: string;
  /** Test files. At least one test in them must fail. */
  tests: string[];
}

const SERVER = 'packages/server/src/';
const TEST = 'packages/server/test/';
const JOBS_TEST = `${SERVER}platform/jobs/jobs.test.ts`;
const SCHEDULES_TEST = `${SERVER}platform/jobs/schedules.test.ts`;

export const mutants: Mutant[] = [
  {
    name: 'an operation needs its permission',
    file: `${SERVER}platform/auth/access.ts`,
    from: "if (!mayIn(actor, deploymentId, op.permission)) throw new ApiError('forbidden');",
    to: '',
    tests: [`${TEST}permissions.test.ts`],
  },
  {
    name: 'an account-wide operation needs its permission',
    file: `${SERVER}platform/auth/access.ts`,
    from: "if (op.permission !== 'none' && !may(actor, op.permission) && !readsSome)",
    to: 'if (false as boolean)',
    tests: [`${TEST}permissions.test.ts`],
  },
  {
    name: 'a handler gets only callers of its type',
    file: `${SERVER}platform/auth/access.ts`,
    from: 'if (!isCallerFor(op.auth, actor))',
    to: 'if (false as boolean)',
    tests: [`${SERVER}platform/auth/access.test.ts`],
  },
  {
    name: 'an operation takes only its own kinds of credentials',
    file: `${SERVER}platform/auth/authenticate.ts`,
    from: 'kindOf(taken, given)',
    to: 'kindOf(kinds, given)',
    tests: [`${SERVER}platform/auth/credentials.test.ts`],
  },
  {
    name: 'two kinds of credentials do not take the same one',
    file: `${SERVER}platform/auth/credentials.ts`,
    from: 'if (takers.length === 1 && takers[0] === kind) continue;',
    to: 'if (takers) continue;',
    tests: [`${SERVER}platform/auth/credentials.test.ts`],
  },
  {
    name: 'a cookie does not count beside an Authorization header',
    file: `${SERVER}platform/auth/credentials.ts`,
    from: 'scheme === undefined ? kind.schemes.length === 0 : kind.schemes.includes(scheme)',
    to: 'kind.schemes.length === 0 || kind.schemes.includes(scheme!)',
    tests: [`${SERVER}platform/auth/credentials.test.ts`],
  },
  {
    name: 'a known API key is answered at once',
    file: `${SERVER}domains/api-keys/credential.ts`,
    from: 'return known ? noting(known.actor) : lookUp(hash, cacheKey, address);',
    to: 'return known ? Promise.resolve(noting(known.actor)) : lookUp(hash, cacheKey, address);',
    tests: [`${SERVER}domains/api-keys/credential.test.ts`],
  },
  {
    name: 'the first signing key is made when it is needed',
    file: `${SERVER}domains/signing-keys/signing-keys.ts`,
    from: 'if (rows.length) return rows;',
    to: 'if (rows) return rows;',
    tests: [`${SERVER}domains/signing-keys/signing-keys.test.ts`],
  },
  {
    name: 'a cache does not keep what was read before a notification',
    file: `${SERVER}platform/db/notified-cache.ts`,
    from: 'if (listener.hears && before === generation) {',
    to: 'if (listener.hears) {',
    tests: [`${SERVER}platform/db/notified-cache.test.ts`],
  },
  {
    name: 'a report that is being changed is locked',
    file: `${SERVER}domains/reports/reports.ts`,
    from: '  await store.lockReport(tx, id);\n',
    to: '',
    tests: [`${SERVER}domains/workspace/waiting-writers.test.ts`],
  },
  {
    name: 'a deadlock is tried again',
    file: `${SERVER}platform/db/database.ts`,
    from: 'if (tries >= MAX_TRIES || !isRetryable(error)) throw error;',
    to: 'throw error;',
    tests: [`${SERVER}platform/db/database.test.ts`],
  },
  {
    name: 'a random test counts its runs',
    file: `${TEST}random-runs.ts`,
    from: 'numRuns: runs,',
    to: 'numRuns: 0,',
    tests: [`${SERVER}domains/embed-sessions/atomicity.test.ts`],
  },
  {
    name: 'a job of another lane is not taken',
    file: `${SERVER}platform/jobs/store.ts`,
    from: ` and lane = \${lane} and run_at <= now()`,
    to: ' and run_at <= now()',
    tests: [JOBS_TEST],
  },
  {
    name: 'a run that lost its job does not finish it',
    file: `${SERVER}platform/jobs/store.ts`,
    from: `update jobs set state = 'done', finished_at = now(), last_error = null, \${NO_LEASE}\n    where id = \${id} and lease_token = \${token}`,
    to: `update jobs set state = 'done', finished_at = now(), last_error = null, \${NO_LEASE}\n    where id = \${id} and \${token} <> ''`,
    tests: [JOBS_TEST],
  },
  {
    name: 'stopping the server does not count as a failed attempt of a job',
    file: `${SERVER}platform/jobs/store.ts`,
    from: 'attempts = attempts - 1',
    to: 'attempts = attempts',
    tests: [JOBS_TEST],
  },
  {
    name: 'a job that returns to the queue wakes other workers',
    file: `${SERVER}platform/jobs/functions.sql`,
    from: `when (new.state = 'waiting')`,
    to: `when (new.state = 'never')`,
    tests: [JOBS_TEST],
  },
  {
    name: 'a worker that replaces a dead one releases its jobs',
    file: `${SERVER}platform/jobs/worker.ts`,
    from: `  await store.releaseAbandonedJobs(db, id);\n`,
    to: '',
    tests: [JOBS_TEST],
  },
  {
    name: 'a job that kills its workers fails after its last attempt',
    file: `${SERVER}platform/jobs/store.ts`,
    from: `state = case when attempts < max_attempts then 'waiting' else 'failed' end`,
    to: `state = 'waiting'`,
    tests: [JOBS_TEST],
  },
  {
    name: 'the lease of a long job is renewed',
    file: `${SERVER}platform/jobs/run-job.ts`,
    from: 'const timer = setInterval(renew, times.leaseMs / 3);',
    to: 'const timer = setInterval(renew, times.leaseMs * 30);',
    tests: [JOBS_TEST],
  },
  {
    name: 'an idle job worker takes no lock',
    file: `${SERVER}platform/jobs/worker.ts`,
    from: 'if (isDue(due.scheduleInMs)) enqueued',
    to: 'if (due.scheduleInMs !== null) enqueued',
    tests: [JOBS_TEST],
  },
  {
    name: 'an idle job worker sleeps',
    file: `${SERVER}platform/jobs/worker.ts`,
    from: 'return Math.min(pollMs, ...later',
    to: 'return Math.min(20, pollMs, ...later',
    tests: [JOBS_TEST],
  },
  {
    name: 'the progress of a job is written rarely',
    file: `${SERVER}platform/jobs/run-job.ts`,
    from: 'Math.max(0, writtenAt + times.progressMs - performance.now())',
    to: '0',
    tests: [JOBS_TEST],
  },
  {
    name: 'a schedule and its job are written together',
    file: `${SERVER}platform/jobs/schedules.ts`,
    from: `    await store.updateSchedules(tx, next);\n    return due.length;`,
    to: `    await db.transaction((other) => store.updateSchedules(other, next));\n    return due.length;`,
    tests: [SCHEDULES_TEST],
  },
  {
    name: 'a broken schedule is parked',
    file: `${SERVER}platform/jobs/schedules.ts`,
    from: 'return { nextRunAt: null, error: (error as Error).message };',
    to: 'return { nextRunAt: schedule.nextRunAt, error: (error as Error).message };',
    tests: [SCHEDULES_TEST],
  },
  {
    name: 'a schedule of an unknown kind is left alone',
    file: `${SERVER}platform/jobs/schedules.store.ts`,
    from: `where next_run_at <= now() and kind = any(\${kinds})`,
    to: `where next_run_at <= now() and cardinality(\${kinds}::text[]) > 0`,
    tests: [SCHEDULES_TEST],
  },
  {
    name: 'a start of the server does not delay a schedule',
    file: `${SERVER}platform/jobs/schedules.store.ts`,
    from: `then s.next_run_at\n        else excluded.next_run_at end`,
    to: `then excluded.next_run_at\n        else excluded.next_run_at end`,
    tests: [SCHEDULES_TEST],
  },
  {
    name: 'a schedule is deleted with its user',
    file: `${SERVER}platform/jobs/schedules.ts`,
    from: '{ user: { endAccess: store.deleteSchedulesOfUser } }',
    to: '{}',
    tests: [SCHEDULES_TEST],
  },
  {
    name: 'every error of an operation has the form that it says',
    file: 'packages/server/src/platform/http/server.ts',
    from: 'reply, request.routeOptions.config.operation?.errorShape);',
    to: 'reply);',
    tests: ['packages/server/test/kinds/errors.test.ts'],
  },
  {
    name: 'a caller has a number of calls',
    file: 'packages/server/src/platform/http/routes.ts',
    from: 'limitRate?.(actor, request.ip);',
    to: '',
    tests: ['packages/server/test/kinds/limits.test.ts'],
  },
  {
    name: 'what took too long changes nothing',
    file: 'packages/server/src/platform/http/lifetime.ts',
    from: '        if (isLate) throw timedOut();\n        isCommitting = true;',
    to: '        isCommitting = true;',
    tests: ['packages/server/test/kinds/limits.test.ts'],
  },
  {
    name: 'a handler is told that its time is over',
    file: 'packages/server/src/platform/http/lifetime.ts',
    from: '          controller?.abort(timedOut());\n',
    to: '',
    tests: ['packages/server/test/kinds/limits.test.ts'],
  },
  {
    name: 'a stream that fails half-way does not look complete',
    file: 'packages/server/src/platform/http/streams.ts',
    from: '  } finally {\n    await iterator.return?.();\n  }\n}\n\nconst TURNED',
    to: '  } catch {\n  } finally {\n    await iterator.return?.();\n  }\n}\n\nconst TURNED',
    tests: ['packages/server/test/kinds/streams.test.ts'],
  },
  {
    name: 'streams of events end when the server stops',
    file: 'packages/server/src/platform/http/streams.ts',
    from: "stopping.addEventListener('abort', onStop);",
    to: '',
    tests: ['packages/server/test/kinds/streams.test.ts'],
  },
  {
    name: 'a schedule that another server is taking does not hold up the others',
    file: 'packages/server/src/platform/jobs/schedules.store.ts',
    from: 'limit} for update skip locked',
    to: 'limit} for update',
    tests: ['packages/server/src/platform/jobs/schedules.test.ts'],
  },
  {
    name: 'uploads on disk have a limit for each caller',
    file: 'packages/server/src/platform/http/uploads.ts',
    from: "if (!share.take(file ? chunk.length : size)) throw new ApiError('unavailable');",
    to: '',
    tests: ['packages/server/src/platform/http/uploads.test.ts'],
  },
  {
    name: 'a handler whose time ends during a commit that is tried again is a 504',
    file: 'packages/server/src/platform/http/lifetime.ts',
    from: '(error) => (isAnswered ? reportLate(error) : reject(error))',
    to: '(error) => (isLate && !isCommitting ? reportLate(error) : reject(error))',
    tests: ['packages/server/src/platform/http/lifetime.test.ts'],
  },
  {
    name: 'a field of a form comes once',
    file: 'packages/server/src/platform/http/form-body.ts',
    from: "    if (once.has(name)) throw invalid(name, 'is given more than once');\n",
    to: '',
    tests: ['packages/server/test/kinds/forms.test.ts'],
  },
  {
    name: 'a file has a largest size',
    file: 'packages/server/src/platform/http/uploads.ts',
    from: '      if (size > maxBytes) throw tooLarge();\n',
    to: '',
    tests: ['packages/server/test/kinds/multipart.test.ts'],
  },
  {
    name: 'headers of replies are those of the contract',
    file: 'packages/server/src/platform/http/routes.ts',
    from: '    validators.replyHeaders(call.headers);\n',
    to: '',
    tests: ['packages/server/test/kinds/pages.test.ts'],
  },
  {
    name: 'a redirect sends no other headers',
    file: 'packages/server/src/platform/http/replies.ts',
    from: 'location: headerText(location)',
    to: 'location',
    tests: ['packages/server/test/kinds/pages.test.ts'],
  },
  {
    name: 'a statement binds nothing that the driver would guess a text for',
    file: `${SERVER}platform/db/sql.ts`,
    from: 'if (Array.isArray(value)) return value.map(bound);',
    to: 'return value as never;',
    tests: [`${SERVER}platform/db/sql.test.ts`],
  },
  {
    name: 'a row type is what its statement returns',
    file: `${SERVER}domains/roles/store.ts`,
    from: '  isBuiltIn: boolean;',
    to: '  isBuiltIn: string;',
    tests: [`${SERVER}domains/roles/roles.test.ts`],
  },
  {
    name: 'a migration keeps the rows that are there',
    file: 'packages/server/migrations/0022-named-policies.sql',
    from: 'alter table resource_policies',
    to: 'delete from resource_policies;\nalter table resource_policies',
    tests: [`${TEST}upgrades.test.ts`],
  },
  {
    name: 'a migration succeeds where there are rows',
    file: 'packages/server/migrations/0022-named-policies.sql',
    from: 'boolean not null default true',
    to: 'boolean not null',
    tests: [`${TEST}upgrades.test.ts`],
  },
  {
    name: 'an older server leaves the functions of a newer one alone',
    file: `${SERVER}platform/db/functions.ts`,
    from: '  if (applied.some((row) => isNewer(row.version, version))) return;\n',
    to: '',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'a function whose parameters change leaves nothing behind',
    file: `${SERVER}platform/db/functions.ts`,
    from: '  for (const { signature } of replaced) await',
    to: '  if (false as boolean) for (const { signature } of replaced) await',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'an index that was cut off is made anew',
    file: `${SERVER}platform/db/migrate.ts`,
    from: '  if (isMade && rows[0] && !isWhole) await',
    to: '  if (false as boolean) await',
    tests: [`${TEST}migrations.test.ts`],
  },
  {
    name: 'an index can be built while other servers wait for the migration',
    file: `${SERVER}platform/db/migrate.ts`,
    from: 'select pg_try_advisory_lock($1) as taken',
    to: 'select pg_advisory_lock($1) is not null as taken',
    tests: [`${TEST}migrations.test.ts`],
  },
];
