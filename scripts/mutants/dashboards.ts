import { type Mutant, SERVER } from './mutant.ts';

const ACCESS = `${SERVER}domains/access/store.ts`;
const DASHBOARDS = `${SERVER}domains/dashboards/`;
const WHO = [`${DASHBOARDS}access.test.ts`];
const PYTHON = [`${DASHBOARDS}python.test.ts`];
const PUBLISH = [`${DASHBOARDS}publish.test.ts`, `${DASHBOARDS}refused.test.ts`];

export const dashboards: Mutant[] = [
  {
    name: 'embed users publish no applications',
    file: `${DASHBOARDS}publish.ts`,
    from: "config.kind === 'APP' && context.viewer.embedTenant !== null",
    to: 'false',
    tests: WHO,
  },
  {
    name: 'memory of Python that no limit counts is refused',
    file: `${SERVER}platform/processes/sandbox.ts`,
    from: "'--remount-ro', '/dev', '--seccomp', '4'",
    to: "'--remount-ro', '/dev'",
    tests: PYTHON,
  },
  {
    name: 'embed viewers see only dashboards that allow embedding',
    file: ACCESS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    from: "  d.allow_embed and ${isPresent('w')}",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    to: "  ${isPresent('w')}",
    tests: WHO,
  },
  {
    name: 'embed access decides which embed tenants see a dashboard',
    file: ACCESS,
    from: "then d.all_embed_users else 'read' end) = 'read')`;",
    to: "then d.all_embed_users else 'read' end) is not null)`;",
    tests: WHO,
  },
  {
    name: 'the entry of an embed tenant overrules the setting for all',
    file: ACCESS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    from: 'e.dashboard_id = d.id and e.embed_tenant = ${tenant}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    to: "e.dashboard_id = d.id and e.embed_tenant = ${tenant} and e.action = 'read'",
    tests: WHO,
  },
  {
    name: 'a dashboard of an embed tenant is closed to others',
    file: ACCESS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    from: ' and (w.embed_tenant is null or w.embed_tenant = ${contentKeyOf(tenant)})\n',
    to: '\n',
    tests: WHO,
  },
  {
    name: 'nobody sees a dashboard that is not published',
    file: ACCESS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    from: '(d.version_number > 0 and ${sees})',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    to: '(${sees})',
    tests: WHO,
  },
  {
    name: 'viewers who are no creators see nothing by the rights of their roles',
    file: ACCESS,
    from: '        : isEmbeddedIn(embed.embedTenant);',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file.
    to: '        : sql`(${byLevel} or d.version_number > 0)`;',
    tests: WHO,
  },
  {
    name: 'a key or token for another deployment finds no dashboard',
    file: `${DASHBOARDS}dashboards.ts`,
    from: '!reaches(actor, deploymentId) || ',
    to: '',
    tests: WHO,
  },
  {
    name: 'embedding is changed by who manages the dashboard',
    file: `${DASHBOARDS}publish.ts`,
    from: "    if (workbook.level < MANAGE) throw new ApiError('forbidden');\n",
    to: '',
    tests: PUBLISH,
  },
  {
    name: 'a chart loads nothing',
    file: `${DASHBOARDS}spec-rules.ts`,
    from: "  url: 'can not be used: a chart loads nothing',\n",
    to: '',
    tests: PUBLISH,
  },
  {
    name: 'a chart has no inputs',
    file: `${DASHBOARDS}spec-rules.ts`,
    from: " && value !== 'scales' && value !== 'legend')",
    to: " && value === '')",
    tests: PUBLISH,
  },
  {
    name: 'a selection hears only events of marks',
    file: `${DASHBOARDS}spec-rules.ts`,
    from: '  on: isMarkEvent,\n',
    to: '  on: isAny,\n',
    tests: PUBLISH,
  },
  {
    name: 'the pointer belongs to the page',
    file: `${DASHBOARDS}spec-rules.ts`,
    from: "key === 'name' && value === 'cursor'",
    to: 'key === value',
    tests: PUBLISH,
  },
  {
    name: 'expressions see no events',
    file: `${DASHBOARDS}expression-rules.ts`,
    from: "const PAGE_NAMES = ['event', 'item'];",
    to: "const PAGE_NAMES = ['item'];",
    tests: PUBLISH,
  },
  {
    name: 'charts of one user are compiled one after the other',
    file: `${DASHBOARDS}charts.ts`,
    from: '  sharerPlaces: 1,',
    to: '  sharerPlaces: 2,',
    tests: [`${DASHBOARDS}charts.test.ts`],
  },
  {
    name: 'who may not manage a workbook learns nothing of embed tenants',
    file: `${DASHBOARDS}routes.ts`,
    from: '      await requirePlainWorkbook(tx, viewer, params.workbookId, MANAGE);\n',
    to: '',
    tests: WHO,
  },
  {
    name: 'embed viewers do not get the SQL of reports',
    file: `${DASHBOARDS}dashboards.ts`,
    from: 'withSql: embedOf(actor) === null',
    to: 'withSql: true',
    tests: WHO,
  },
  {
    name: 'Python has no network',
    file: `${SERVER}platform/processes/sandbox.ts`,
    from: "'--unshare-all', ",
    to: "'--unshare-all', '--share-net', ",
    tests: PYTHON,
  },
  {
    name: 'Python starts no processes',
    file: `${DASHBOARDS}python-harness.ts`,
    from: '    (resource.RLIMIT_NPROC, 2),\n',
    to: '',
    tests: PYTHON,
  },
  {
    name: 'Python has a limited memory',
    file: `${DASHBOARDS}python-harness.ts`,
    from: '    (resource.RLIMIT_AS, 512 * MB),\n',
    to: '',
    tests: PYTHON,
  },
  {
    name: 'Python runs only in a sandbox',
    file: `${DASHBOARDS}python.ts`,
    from: 'if (why !== undefined)',
    to: 'if (why === "never")',
    tests: PYTHON,
  },
  {
    name: 'Python does not run as root',
    file: `${DASHBOARDS}python.ts`,
    from: "if (!user) return 'The server runs as root",
    to: "if (user === null) return 'The server runs as root",
    tests: PYTHON,
  },
  {
    name: 'viewers do not learn what is wrong with the server',
    file: `${DASHBOARDS}python.ts`,
    from: 'mayLearnWhy ? why : undefined',
    to: 'why',
    tests: PYTHON,
  },
  {
    name: 'Python starts only for callers who are still there',
    file: `${SERVER}platform/processes/sandbox.ts`,
    from: '  program.signal.throwIfAborted();\n',
    to: '',
    tests: PYTHON,
  },
  {
    name: 'Python ends when its caller leaves',
    file: `${SERVER}platform/processes/sandbox.ts`,
    from: "  program.signal.addEventListener('abort', leave, { once: true });\n",
    to: '',
    tests: PYTHON,
  },
  {
    name: 'Python has a limited time of the processor',
    file: `${SERVER}platform/processes/sandbox.ts`,
    from: 'limits: { cpuSeconds: program.cpuSeconds }',
    to: 'limits: {}',
    tests: PYTHON,
  },
  {
    name: 'Python gets no variables of the server',
    file: `${SERVER}platform/processes/sandbox.ts`,
    from: "'--clearenv', ",
    to: "'--setenv', 'PATH', '/usr/bin', ",
    tests: PYTHON,
  },
  {
    name: 'people run Python only with AIBIView',
    file: `${DASHBOARDS}routes.ts`,
    from: "if (!mayIn(actor, row.deploymentId, 'AIBIView')) throw new ApiError('forbidden');",
    to: '',
    tests: PYTHON,
  },
  {
    name: 'a slow query takes no place of Python',
    file: `${DASHBOARDS}python.ts`,
    from: 'await rows();',
    to: "await places.take({ key: 'python', sharer, signal }, rows);",
    tests: PYTHON,
  },
  {
    name: 'rows for Python are let go of',
    file: `${DASHBOARDS}python.ts`,
    from: 'given.release();',
    to: '{}',
    tests: PYTHON,
  },
  {
    name: 'only Python of the published dashboard runs',
    file: `${DASHBOARDS}python-runs.ts`,
    from: 'snapshotId(version, place) === reportVersionId',
    to: 'place >= 0',
    tests: PYTHON,
  },
  {
    name: 'what was published under earlier rules is checked again',
    file: `${DASHBOARDS}rechecks.ts`,
    from: 'some(({ rules }) => rules !== RULES)',
    to: 'some(() => false)',
    tests: PUBLISH,
  },
  {
    name: 'what Vega-Lite was compiled to earlier is checked again',
    file: `${DASHBOARDS}chart-thread.ts`,
    from: 'if (stored) requireCompiled(stored);',
    to: '',
    tests: PUBLISH,
  },
  {
    name: 'Python stays on the server',
    file: `${DASHBOARDS}snapshots.ts`,
    from: '...(python ? { hasPython: true } : {})',
    to: '...(python ? { hasPython: true, python } : {})',
    tests: PUBLISH,
  },
  {
    name: 'old versions of a dashboard hold 20 MB at most',
    file: `${SERVER}domains/dashboards/store.ts`,
    from: ' or bytes > ',
    to: ' or false and bytes > ',
    tests: PUBLISH,
  },
  {
    name: 'the thread of an AI widget is set under the tag of the dashboard',
    file: `${SERVER}domains/dashboards/routes.ts`,
    from: '      await requireState(tx, actor, row, etag);\n      const { before, isChanged }',
    to: '      const { before, isChanged }',
    tests: PUBLISH,
  },
];
