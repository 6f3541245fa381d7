import type { Mutant } from './mutant.ts';

const PLAN = 'packages/semantic/src/plan/';
const RANDOM = `${PLAN}random.test.ts`;
const BUDGET = `${PLAN}budget.test.ts`;
const DEPTH = 'packages/semantic/src/depth.test.ts';
const SECURITY = `${PLAN}security.test.ts`;
const FENCES = `${PLAN}fences.test.ts`;
const DOMAIN = 'packages/server/src/domains/queries/';
const API = `${DOMAIN}queries.test.ts`;
const ROWS = `${DOMAIN}row-level-security.test.ts`;
const RESULTS = `${DOMAIN}results.test.ts`;
const CACHE = `${DOMAIN}cache.test.ts`;
const PLANS = `${DOMAIN}kept-plans.test.ts`;
const VIEWERS = `${DOMAIN}viewers.test.ts`;

export const queries: Mutant[] = [
  {
    name: 'conditions that can fail are computed after the policies',
    file: `${PLAN}fences.ts`,
    from: 'fenced(allOf(all(policies)), failing),',
    to: 'failing,',
    tests: [FENCES],
  },
  {
    name: 'the time zone of a query does not move a dimension that a policy compares',
    file: `${PLAN}policies.ts`,
    from: 'rows.inUtc(() => conditionsOf(rows, access))',
    to: 'conditionsOf(rows, access)',
    tests: [SECURITY],
  },
  {
    name: 'the time zone of a query does not choose which rows are joined',
    file: `${PLAN}rows.ts`,
    from: 'rows.inUtc(() => conditionOf(join, from, node))',
    to: 'conditionOf(join, from, node)',
    tests: [SECURITY],
  },
  {
    name: 'a segment is computed after the policies',
    file: `${PLAN}plan.ts`,
    from: 'segment.name), canFail: true })',
    to: 'segment.name), canFail: false })',
    tests: [FENCES],
  },
  {
    name: 'a column that the SQL of a cube computes is compared after the policies',
    file: `${PLAN}rows.ts`,
    from: "'query' in from && !COLUMNS_ONLY.test(from.query)",
    to: 'false',
    tests: [FENCES],
  },
  {
    name: 'a join condition is computed after the policies of what was joined before',
    file: `${PLAN}fences.ts`,
    from: 'fencedJoin(rows, i, policies)',
    to: 'rows.joins[i]!',
    tests: [FENCES],
  },
  {
    name: 'a row has a partner that is hidden unless the policy refuses a missing row too',
    file: `${PLAN}policies.ts`,
    from: "const asksForNull = operator === 'notSet' ||",
    to: "const asksForNull = false && operator === 'notSet' ||",
    tests: [FENCES],
  },
  {
    name: 'an attribute that is an empty text does not open all rows',
    file: `${PLAN}viewer.ts`,
    from: "if (OF_TEXT.test(operator) && items.includes('')) return undefined;",
    to: '',
    tests: [SECURITY],
  },
  {
    name: 'the queries of a request share the budget of its plans',
    file: `${DOMAIN}plans.ts`,
    from: '    budget,\n',
    to: '',
    tests: [API],
  },
  {
    name: 'periods of rolling windows draw from the budget of the request',
    file: `${PLAN}windows.ts`,
    from: 'spend(budget, 1);',
    to: '',
    tests: [BUDGET],
  },
  {
    name: 'filters draw from the budget of the request for each cube with measures',
    file: `${PLAN}groups.ts`,
    from: 'spend(context.budget, pieces);',
    to: '',
    tests: [BUDGET],
  },
  {
    name: 'members that refer to others twice draw from the budget of the request',
    file: `${PLAN}budget.ts`,
    from: 'spendCharacters(budget, REFERENCE_CHARACTERS);',
    to: 'if (budget.depth > 30) return [] as T;',
    tests: [DEPTH],
  },
  {
    name: 'the characters of SQL that is written are counted',
    file: `${PLAN}render.ts`,
    from: 'spendCharacters(budget, text.length);',
    to: '',
    tests: [DEPTH],
  },
  {
    name: 'cubes that are joined draw from the budget of the request',
    file: `${PLAN}rows.ts`,
    from: 'spend(budget, 1);',
    to: 'if (nodes.length > 20_000) return root;',
    tests: [DEPTH],
  },
  {
    name: 'long chains of references are refused when the model compiles',
    file: 'packages/semantic/src/compile.ts',
    from: 'refuseLongChains(context);',
    to: '',
    tests: [DEPTH],
  },
  {
    name: 'members that views include count for the size of a model',
    file: 'packages/semantic/src/resolve/views.ts',
    from: '{ members: 1, characters: lengthOf(member) }',
    to: '{ members: 0 }',
    tests: ['packages/semantic/src/size.test.ts'],
  },
  {
    name: 'what can be queried is kept only for viewers of the same groups',
    file: `${DOMAIN}kept-meta.ts`,
    from: 'onlyViews, groups, tenantGroups, roles]',
    to: 'onlyViews]',
    tests: [`${DOMAIN}kept-meta.test.ts`],
  },
  {
    name: 'policies of cubes that are only passed through apply',
    file: `${PLAN}policies.ts`,
    from: 'if (!policies.length) continue;',
    to: 'if (!policies.length || !named.has(name)) continue;',
    tests: [RANDOM],
  },
  {
    name: 'a viewer whom no policy admits sees no rows',
    file: `${PLAN}policies.ts`,
    from: '=> anyOf(counting.map(({ rows })',
    to: '=> counting.length === 0 || anyOf(counting.map(({ rows })',
    tests: [SECURITY],
  },
  {
    name: 'a missing attribute matches no row',
    file: `${PLAN}policies.ts`,
    from: 'if (!given) return false;',
    to: 'if (!given) return true;',
    tests: [SECURITY],
  },
  {
    name: 'a policy counts only if it opens every member that the query names',
    file: `${PLAN}policies.ts`,
    from: '[...(named ?? [])].every((member) => members.has(member));',
    to: '[...(named ?? [])].some((member) => members.has(member));',
    tests: [SECURITY],
  },
  {
    name: 'the time zone of a query does not move a policy',
    file: `${PLAN}policies.ts`,
    from: 'const clock: Clock = { zone: UTC,',
    to: 'const clock: Clock = { zone: { ...UTC, instantOf: (ms) => ms - 32_400_000 },',
    tests: [SECURITY],
  },
  {
    name: 'in a policy, no value matches nothing but notSet',
    file: `${PLAN}policies.ts`,
    from: 'keepsNulls: false',
    to: 'keepsNulls: true',
    tests: [RANDOM],
  },
  {
    name: 'a group that is named like a role is not that role',
    file: `${PLAN}viewer.ts`,
    from: "if (group.startsWith('role:')) return viewer.roles",
    to: "if (group.startsWith('role:') && !viewer.groups.includes(group)) return viewer.roles",
    tests: [SECURITY],
  },
  {
    name: 'what every object has is no attribute',
    file: `${PLAN}viewer.ts`,
    from: '!Object.hasOwn(value, key)',
    to: '!(key in value)',
    tests: [SECURITY],
  },
  {
    name: 'hidden members and unknown members are the same error',
    file: `${PLAN}members.ts`,
    from: '!isPublic(member) || ',
    to: '',
    tests: [SECURITY],
  },
  {
    name: 'joins do not multiply measures',
    file: `${PLAN}groups.ts`,
    from: '!rows.nodes.some(({ multiplied }) => multiplied)',
    to: 'true',
    tests: [RANDOM],
  },
  {
    name: 'ids that a double can not tell apart stay apart',
    file: `${PLAN}comparisons.ts`,
    from: 'if (INTEGER.test(text) && digits <= DIGITS_MAX) {',
    to: 'if (INTEGER.test(text) && digits < 10) {',
    tests: [`${PLAN}golden.test.ts`],
  },
  {
    name: 'an `or` in the SQL of a dimension can not weaken a policy',
    file: `${PLAN}comparisons.ts`,
    from: 'const member = { type, sql: inBrackets(compared.sql) };',
    to: 'const member = { type, sql: compared.sql };',
    tests: [SECURITY],
  },
  {
    name: 'a comment in the SQL of a dimension can not swallow a policy',
    file: `${PLAN}rows.ts`,
    from: "if (typeof part === 'string') return dialect.withoutComments(part);\n        if (part.kind === 'measure'",
    to: "if (typeof part === 'string') return part;\n        if (part.kind === 'measure'",
    tests: [SECURITY],
  },
  {
    name: 'policies of a cube that lies only between two facts apply',
    file: `${PLAN}groups.ts`,
    from: 'for (const way of ways) rows.along(way);',
    to: '',
    tests: [SECURITY],
  },
  {
    name: 'an answer is not shared by statements with other values',
    file: `${DOMAIN}plans.ts`,
    from: 'hash = hashOf(JSON.stringify(statement));',
    to: 'hash = hashOf(statement.sql);',
    tests: [ROWS],
  },
  {
    name: 'an answer is not shared by deployments',
    file: `${DOMAIN}sources.ts`,
    from: 'id: JSON.stringify([deploymentId, settings]),',
    to: 'id: JSON.stringify([settings]),',
    // Files differ by themselves.
    tests: [`${DOMAIN}postgres.test.ts`],
  },
  {
    name: 'an answer is not used after a file has changed',
    file: `${DOMAIN}plans.ts`,
    from: 'JSON.stringify([source.id, source.version(), version, statementHash(statement)])',
    to: 'JSON.stringify([source.id, version, statementHash(statement)])',
    tests: [CACHE],
  },
  {
    name: 'the viewer of creator mode has the groups of the embed tenant',
    file: `${DOMAIN}viewers.ts`,
    from: 'embedTenant: creatorMode ? embedTenant : null',
    to: 'embedTenant: null',
    tests: [ROWS],
  },
  {
    name: 'an environment token for any viewer has no groups or roles of its creator',
    file: `${DOMAIN}viewers.ts`,
    from: 'actor.isCreator ? await find(personKey(actor.userId)) : NOBODY',
    to: 'await find(personKey(actor.userId))',
    tests: [ROWS],
  },
  {
    name: 'an environment token queries the model of its own branch',
    file: `${DOMAIN}queries.ts`,
    from: "actor.kind === 'tokenHolder' ? actor.branchId : null",
    to: 'null',
    tests: [API],
  },
  {
    name: 'what is wrong with the SQL of a model is hidden from viewers',
    file: `${DOMAIN}errors.ts`,
    from: 'FROM_SOURCE.has(error.code) && !showsSource',
    to: 'false',
    tests: [API],
  },
  {
    name: 'an answer says that rows were left out',
    file: `${DOMAIN}plans.ts`,
    from: 'rowsMax: ROWS_MAX + 1',
    to: 'rowsMax: ROWS_MAX',
    tests: [API],
  },
  {
    name: 'equal statements run once',
    file: `${DOMAIN}results.ts`,
    from: '(!asked.isRenewed && running.get(runKeyOf(asked))) || start(asked)',
    to: 'start(asked)',
    tests: [RESULTS],
  },
  {
    name: 'statements of one embed tenant wait for each other',
    file: `${DOMAIN}results.ts`,
    from: 'togetherMax: limits.atOnce',
    to: 'togetherMax: 1000',
    tests: [RESULTS],
  },
  {
    name: 'a caller who leaves while waiting is dropped',
    file: 'packages/server/src/platform/turns.ts',
    from: 'const onAbort = () => giveUp(signal!.reason);',
    to: 'const onAbort = () => {};',
    tests: [RESULTS],
  },
  {
    name: 'a statement that nobody waits for is ended',
    file: `${DOMAIN}results.ts`,
    from: "run.controller.abort(new Error('nobody waits for the answer'));",
    to: '{}',
    tests: [RESULTS],
  },
  {
    name: 'kept results take no more than their memory',
    file: `${DOMAIN}kept.ts`,
    from: 'if (bytes <= bytesMax) break;',
    to: 'break;',
    tests: [RESULTS],
  },
  {
    name: 'a refresh key limits how long an answer is used',
    file: `${DOMAIN}freshness.ts`,
    from: 'everyMs ?? MAX_AGE_MS)',
    to: 'MAX_AGE_MS)',
    tests: [CACHE],
  },
  {
    name: 'an answer depends on what the query of a refresh key returns',
    file: `${DOMAIN}freshness.ts`,
    from: 'else version.push(await ask(key.sql, everyMs ?? ASK_EVERY_MS));',
    to: '',
    tests: [CACHE],
  },
  {
    name: 'a plan is not shared by viewers with other rights',
    file: `${DOMAIN}kept-plans.ts`,
    from: '{textOf(viewer)}',
    to: "{''}",
    tests: [ROWS],
  },
  {
    name: 'a plan is not used for another build of the model',
    file: `${DOMAIN}kept-plans.ts`,
    from: 'numberOf(model)',
    to: '0',
    // In a server, a build is told to the data sources of the deployment too.
    tests: [PLANS],
  },
  {
    name: 'a plan is not used for other data sources',
    file: `${DOMAIN}kept-plans.ts`,
    from: 'numberOf(source)',
    to: '0',
    tests: [CACHE],
  },
  {
    name: 'a plan that depends on the time is made again',
    file: `${DOMAIN}kept-plans.ts`,
    from: 'if (known && now.getTime() < known.sameUntilMs) return known;',
    to: 'if (known) return known;',
    tests: [PLANS],
  },
  {
    name: 'a range of seconds is not the same for a minute',
    file: 'packages/semantic/src/times/ranges.ts',
    from: "unit === 'second' ? SECOND_MS : MINUTE_MS",
    to: 'MINUTE_MS',
    tests: ['packages/semantic/src/times/times.test.ts'],
  },
  {
    name: 'viewers who are read together are not mixed up',
    file: `${DOMAIN}viewers.ts`,
    from: 'return keys.map((key) => viewers.get(textOf(key))!);',
    to: 'return [...viewers.values(), ...keys.map((key) => viewers.get(textOf(key))!)];',
    tests: [VIEWERS],
  },
  {
    name: 'viewers come back in the order in which they were asked for',
    file: `${DOMAIN}store.ts`,
    from: 'order by given.n`',
    to: 'order by given.n desc`',
    tests: [ROWS],
  },
  {
    name: 'a query never gets a viewer that was read before it came',
    file: `${DOMAIN}viewers.ts`,
    from: 'const find = gather((keys: store.ViewerKey[]) => listViewers(db, keys), TOGETHER);',
    to: `const reads = new Map<string, Promise<Viewer>>();
  const findOne = gather((keys: store.ViewerKey[]) => listViewers(db, keys), TOGETHER);
  const find = (key: store.ViewerKey) => {
    const read = reads.get(textOf(key)) ?? findOne(key).finally(() => reads.delete(textOf(key)));
    reads.set(textOf(key), read);
    return read;
  };`,
    tests: [VIEWERS],
  },
];
