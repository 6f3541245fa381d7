interface AcceptedMutant {
  file: string;
  text: string;
  why: string;
}

const PLAN = 'packages/semantic/src/plan';
const SQL = 'packages/semantic/src/sql';
const all = (why: string, texts: [file: string, ...texts: string[]][]): AcceptedMutant[] =>
  texts.flatMap(([file, ...given]) => given.map((text) => ({ file, text, why })));

/** Mutants that survive because they change nothing that anybody could notice. */
export const accepted: AcceptedMutant[] = [
  ...all('it is there for the compiler: what it leaves out has no property of the name that is compared', [
    [`${PLAN}/columns.ts`, "typeof token === 'string'"],
    [`${PLAN}/comparisons.ts`, "typeof condition !== 'boolean'", "piece.kind === 'value'"],
    [`${PLAN}/divisions.ts`, "typeof token === 'string'"],
    [`${PLAN}/policy-barriers.ts`, "typeof piece === 'string'", "piece.kind === 'name'"],
    [`${PLAN}/groups.ts`, "typeof part === 'object'"],
    [`${PLAN}/measures.ts`, "typeof part !== 'string'", "typeof part !== 'object'"],
    [`${PLAN}/read-query.ts`, '!query', "typeof json === 'number'"],
    [`${PLAN}/reading.ts`, "typeof json === 'number'"],
    [`${PLAN}/rows.ts`, 'onMeasure'],
    [`${PLAN}/shown-values.ts`, "part.kind === 'dimension'", 'of'],
    [`${PLAN}/sql.ts`, 'Array.isArray(first)', "typeof column === 'string'", 'isName(table)'],
    [`${PLAN}/sub-queries.ts`, "typeof part === 'string'"],
    [`${PLAN}/windows.ts`, "'seconds' in periods"],
    [`${SQL}/clauses.ts`, 'isObject(item)'],
    [`${SQL}/expressions.ts`, "kind === 'FuncCall'", 'tested', 'operator !== undefined'],
    [`${SQL}/remainders.ts`, 'isObject(fields.typeName)'],
    [`${SQL}/tree.ts`, '!Array.isArray(value)', 'kind !== undefined', "typeof value === 'string'"],
    ['packages/server/src/domains/queries/sql-parser.ts', 'error instanceof Error'],
  ]),
  ...all('nothing else comes there, and if it did, it would be an error of the planner itself', [
    [`${PLAN}/calculated/read.ts`, '!(error instanceof ExpressionError)'],
    [`${PLAN}/homes.ts`, '!(error instanceof QueryError)'],
    [`${PLAN}/measures.ts`, "part.kind !== 'measure'"],
    [`${PLAN}/plan.ts`, "member.kind !== 'measure'"],
    [`${SQL}/calls.ts`, '!word'],
    [`${SQL}/expressions.ts`, "subLinkType === 'ANY_SUBLINK'"],
    [`${SQL}/parts.ts`, "member.kind === 'measure'"],
    ['packages/server/src/domains/queries/check.ts', '!(error instanceof QueryError)'],
  ]),
  ...all('it is left out for speed, and comes to the same', [
    [`${PLAN}/columns.ts`, 'known'],
    [`${PLAN}/find.ts`, 'viewer.seesUnguarded'],
    [`${PLAN}/members.ts`, 'known'],
    [`${PLAN}/rows.ts`, 'first === node.cube.name'],
    [`${PLAN}/sub-queries.ts`, 'context.view?.policies.length'],
    [`${PLAN}/tokens.ts`, 'known'],
    [`${SQL}/calls.ts`, '!(bits & FRAME.isGiven)'],
    [`${SQL}/parts.ts`, '!keys.includes(name)'],
    [`${SQL}/plan-sql.ts`, 'Math.abs(other.length - name.length) <= LIKE_LENGTHS'],
  ]),
  ...all('text of the model that follows a column begins with something that is no word', [
    [`${PLAN}/policy-barriers.ts`, "dot === '.'", String.raw`isToken(column!, /^(\w+|".*")$/s)`],
    [`${PLAN}/sql.ts`, 'first.length === 1', 'part.length === 2', 'part.length === 3'],
  ]),
  ...all('a field that cannot be read is refused already', [
    [`${PLAN}/calculated/read.ts`, 'made', 'aggregate'],
  ]),
  ...all('a SELECT has an expression, and FROM at most 50 tables, which are refused at this depth too', [
    [`${SQL}/selects.ts`, 'place.depth >= DEPTH_MAX'],
  ]),
  {
    file: `${PLAN}/columns.ts`,
    text: '/^["`]/.test(word)',
    why: 'only types and functions stand in quotes at such places, and to take one for a column hides more',
  },
  {
    file: `${SQL}/remainders.ts`,
    text: 'ARITHMETIC.has(namesOf(fields.name)[0])',
    why: 'no other operator makes a number that has a remainder',
  },
  {
    file: 'packages/server/src/domains/api-keys/routes.ts',
    text: 'expiresAt !== null',
    why: 'no time is parsed from null, and what is not a number is not in the past',
  },
  {
    file: 'packages/server/src/domains/environments/credential.store.ts',
    text: `and t.token_hash = any(\${tokenHashes}::bytea[])`,
    why: 'the caller looks up the hashes that it asked for, and more of them only take longer',
  },
  {
    file: 'packages/server/src/domains/environments/store.ts',
    text: `deployment_id = \${deploymentId} and`,
    why: 'the branch was found in the deployment, and belongs to no other one',
  },
  {
    file: 'packages/semantic/src/sql/names.ts',
    text: 'prefix !== undefined',
    why: 'the prefix of a model is the same each time, and is kept for speed',
  },
  {
    file: 'packages/semantic/src/sql/calls.ts',
    text: `names[0] === 'pg_catalog'`,
    why: 'the parser has this form only for functions of pg_catalog',
  },
  {
    file: 'packages/server/src/platform/auth/access.ts',
    text: `scope === 'none'`,
    why: 'no token has this scope, so the next line refuses it too',
  },
  {
    file: 'packages/server/src/platform/auth/csrf.ts',
    text: 'host !== undefined',
    why: 'no page has the origin of a host that is called undefined',
  },
  {
    file: 'packages/server/src/platform/auth/uses.ts',
    text: '!due.length',
    why: 'an empty list of uses writes nothing, and is left out for speed',
  },
  {
    file: 'packages/server/src/platform/jobs/store.ts',
    text: "await tx.run(sql`set local idle_in_transaction_session_timeout = '2s'`)",
    why: 'a connection runs statements in the order in which they were sent',
  },
  {
    file: 'packages/server/src/platform/jobs/store.ts',
    text: `await tx.run(sql\`select pg_advisory_xact_lock(hashtextextended(\${\`claims of \${lane}\`}, 0))\`)`,
    why: 'a connection runs statements in the order in which they were sent',
  },
  {
    file: 'packages/server/src/domains/access/store.ts',
    text: '(above.parent_id in (select id from held)) is not true and',
    why: 'the next line excludes the same folders, and this one is there for speed',
  },
  {
    file: 'packages/server/src/domains/queries/sources.ts',
    text: `'oauth' in source`,
    why: 'sources that cannot have this setting have nothing there',
  },
  {
    file: 'packages/server/src/domains/embed-sessions/embed-tokens.ts',
    text: '!key',
    why: 'reading the key of nothing fails, and every failure there is a token that is not valid',
  },
  {
    file: 'packages/server/src/domains/embed-sessions/revocations.ts',
    text: 'this.#until.size === 0',
    why: 'an empty list covers nothing, and is left out for speed',
  },
  {
    file: 'packages/server/src/domains/queries/buffered-text.ts',
    text: 'byteLength - at',
    why: 'a file ends after its last byte, and the space for more of them is only not used',
  },
  {
    file: 'packages/server/src/domains/queries/buffered-text.ts',
    text: '!bytesRead',
    why: 'nobody else can shorten a file without a name, and an error is better than a loop without end',
  },
  {
    file: 'packages/server/src/domains/queries/plan-cache.ts',
    text: 'now.getTime() < planned.sameUntilMs',
    why: 'the next line finds the plan in the cache, unless it is larger than all of that',
  },
  {
    file: 'packages/server/src/domains/queries/planner.ts',
    text: 'budget.requireTime(by.sharer)',
    why: 'whoever has used too much is refused when their turn in a thread comes, and here already, so that they do not wait for it',
  },
  {
    file: 'packages/server/src/domains/queries/queries.ts',
    text: 'query',
    why: 'how long the query is decides only which thread explains it',
  },
  {
    file: 'packages/server/src/domains/queries/queries.ts',
    text: 'given',
    why: 'how long the viewer is decides only which thread explains the query',
  },
  {
    file: 'packages/server/src/domains/queries/query-calls.ts',
    text: 'error instanceof EngineError',
    why: 'who sees the words of the data source matters for its errors only, and is looked up for them only',
  },
  {
    file: 'packages/server/src/domains/queries/results.ts',
    text: 'await text.discard()',
    why: 'the file has no name, and is closed a moment later',
  },
  {
    file: 'packages/server/src/domains/queries/routes.ts',
    text: "query.includes('\\0')",
    why: 'no body with this character comes so far, and the audit log must not depend on that',
  },
  {
    file: 'packages/server/src/domains/queries/sql-parser.ts',
    text: 'signal.aborted',
    why: 'nobody leaves for a reason that looks like an error of a thread, so the next line lets it pass too',
  },
  {
    file: 'packages/server/src/domains/queries/store.ts',
    text: `and b.deployment_id = \${deploymentId}`,
    why: 'the branch of a token belongs to its deployment, and so does the one that is deployed',
  },
  {
    file: 'packages/server/src/platform/jobs/store.ts',
    text: `id = \${id} and`,
    why: 'the token of a lease is new for each run, so only one job has it',
  },
  {
    file: 'packages/server/src/platform/jobs/store.ts',
    text: "state = 'running' and",
    why: 'only a running job has a lease and a worker',
  },
  {
    file: 'packages/server/src/platform/jobs/store.ts',
    text: "state in ('done', 'failed') and",
    why: 'only a job that has ended has the time of its end',
  },
  {
    file: 'packages/server/src/platform/jobs/run-job.ts',
    text: '0',
    why: 'a timer takes a time that is over as now',
  },
  {
    file: 'packages/server/src/platform/jobs/worker.ts',
    text: 'released + enqueued > 0',
    why: 'each row that this changes wakes the clock by a notification, without which it looks again a second later',
  },
  {
    file: 'packages/server/src/platform/jobs/schedules.ts',
    text: "'timeZone' in schedule",
    why: 'a schedule without a time zone has the value undefined there',
  },
  {
    file: 'packages/server/src/platform/jobs/store.ts',
    text: 'next_run_at is not null and',
    why: 'a schedule that is parked comes last, and is due in no time, as if there were none',
  },
  {
    file: 'packages/server/src/domains/access/store.ts',
    text: '(above.parent_id in (select id from held)) is not true and',
    why: 'the next condition holds for all folders above, and this one is cheap',
  },
  {
    file: 'packages/server/src/domains/access/store.ts',
    text: 'viewer.levels[noun] === MANAGE',
    why: 'no level is greater than this one, which the greatest of them is then too',
  },
  {
    file: 'packages/server/src/domains/embed-sessions/embed-tokens.ts',
    text: '!key',
    why: 'a key that is not there has no public key, and that error is refused as well',
  },
  {
    file: 'packages/server/src/domains/embed-sessions/revocations.ts',
    text: 'row[kind] === null',
    why: 'no token has null where a revocation has it',
  },
  {
    file: 'packages/server/src/domains/embed-sessions/revocations.ts',
    text: 'this.#until.size === 0',
    why: 'an empty list covers no token, because each was exchanged after 1970, and is left out for speed',
  },
  {
    file: 'packages/server/src/domains/embed-sessions/store.ts',
    text: `and name = any(\${names})`,
    why: 'the caller looks up the names that it asked for, and more of them only take longer',
  },
];
