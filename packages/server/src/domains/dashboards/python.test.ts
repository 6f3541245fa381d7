/** Python of reports, in a real sandbox where this machine can make one. */
import { existsSync } from 'node:fs';
import { type Action, actions } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installDebianPackages } from '../../../../../scripts/debian.ts';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import type { Logger } from '../../platform/log.ts';
import { OURSELVES } from '../../platform/processes/process-user.ts';
import { runSandboxed } from '../../platform/processes/sandbox.ts';
import { createPython } from './python.ts';

const TWO = Buffer.from(
  '{"schema":[{"name":"name","column_type":"String"},{"name":"amount","column_type":"Number"}]}\n{"data":[["Ada","1.5"],["Bob","2"]]}\n{"rowsCapped":false}\n',
);
const whom = (sharer = 'somebody', signal = new AbortController().signal) => ({
  sharer,
  signal,
  mayLearnWhy: true,
});
if (!existsSync('/usr/bin/bwrap')) installDebianPackages('bubblewrap', 'python3');
const python = createPython();
const problem = await python.problem();
const hasPython = existsSync('/usr/bin/python3');
if (problem) console.warn(`The sandbox of Python was not tested: ${problem}`);
const run = (source: string, by = python) => by.run(source, async () => TWO, whom());

describe('without a sandbox', () => {
  test.each([
    ['there is no bubblewrap', { bubblewrap: '/nowhere/bwrap' }, /The server has no bubblewrap/],
    ['bubblewrap fails', { bubblewrap: '/bin/false' }, /bubblewrap cannot make a sandbox/],
    ['there is no user without rights', { findUser: () => undefined }, /there is no user `nobody`/],
  ])('nothing runs, and only people learn why: %s', async (_, options, message) => {
    let isAsked = false;
    const rows = async () => {
      isAsked = true;
      return TWO;
    };
    const logged: object[] = [];
    const log = { warn: (fields: object) => logged.push(fields) } as unknown as Logger;
    const without = createPython({ ...options, log });
    const failureOf = (mayLearnWhy: boolean) =>
      without.run('output = 1', rows, { ...whom(), mayLearnWhy }).catch((error) => error);
    const failure = await failureOf(true);
    expect(failure).toMatchObject({ code: 'python_unavailable', statusCode: 501 });
    expect(failure.message).toMatch(hasPython ? message : /has no \/usr\/bin\/python3/);
    expect((await failureOf(false)).message).toBe('Python reports do not run on this server.');
    expect(failure.message).toContain((logged[0] as { reason: string }).reason);
    expect([isAsked, logged.length]).toEqual([false, 1]);
  });

  test('a caller who has left starts no process', async () => {
    const program = {
      ...{ fence: { bubblewrap: '/nowhere/bwrap', readable: [] }, user: OURSELVES, command: '', args: [] },
      ...{ input: [], timeMs: 60_000, cpuSeconds: 1, textBytesMax: 1000, resultBytesMax: 1000 },
    };
    const reason = new Error('left');
    await expect(runSandboxed({ ...program, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

/** The rows of a large answer, which must be released once. `onTaken` is called when a process has taken them. */
function released(onTaken = () => {}) {
  let times = 0;
  async function* pieces() {
    yield TWO;
    onTaken();
  }
  const answer = { byteLength: TWO.length, release: () => times++, [Symbol.asyncIterator]: pieces };
  return { rows: async () => answer, isReleased: () => times === 1 };
}

describe.skipIf(problem !== undefined)('in a sandbox', () => {
  test('Python gets the rows and returns what it makes of them', async () => {
    const source = `import sys
print(columns)
print("careful", file=sys.stderr)
output = {"sum": sum(row["amount"] for row in rows), "names": [row["name"] for row in rows]}`;
    expect(await run(source)).toEqual({
      stdout: "['name', 'amount']\n",
      stderr: 'careful\n',
      outputData: { sum: 3.5, names: ['Ada', 'Bob'] },
      inputRowCount: 2,
      executionError: null,
    });
  });

  test.each([
    ['an error', '1 / 0', /^ZeroDivisionError: /],
    ['a text that is no Python', 'this is not', /^SyntaxError: /],
    ['an output that is no JSON', 'output = float("nan")', /^ValueError: /],
    ['a number without a meaning', 'import sys\nsys.exit(3)', /^SystemExit: 3/],
    ['an end without a word', 'import os\nos._exit(3)', /exit code 3/],
    ['too much memory', 'x = bytearray(1 << 30)', /^MemoryError/],
    ['another process', 'import os\nos.fork()', /^BlockingIOError/],
    ['a thread', 'import threading\nthreading.Thread(target=print).start()', /^RuntimeError/],
    ['too many files', '[open(f"/tmp/{i}", "w").write("x" * (4 << 20)) for i in range(10)]', /No space left/],
    ['a file outside of /tmp', 'open("/usr/x", "w")', /Read-only file system/],
    ['a file in /dev/shm', 'open("/dev/shm/x", "w")', /Read-only file system/],
    ['a file in memory', 'import os\nos.memfd_create("x")', /^PermissionError/],
    [
      'shared memory',
      'import ctypes, os\nif ctypes.CDLL(None, use_errno=True).shmget(0, 4096, 0o1600) < 0: raise OSError(ctypes.get_errno(), "refused")',
      /^PermissionError/,
    ],
    ['a number that would be rounded', 'output = 2 ** 53 + 1', /holds a number beyond ±9007199254740991/],
    ['a deep output', 'output = []\nfor _ in range(200): output = [output]', /nested too deeply/],
    ['a key twice', 'output = {1: "a", "1": "b"}', /a key twice/],
    [
      'a NUL in the output',
      'output = [{"name": "a\\0b"}]',
      /^The output cannot be returned: a text in it has NUL/,
    ],
    ['half of a character in the output', 'output = "\\ud83d"', /has NUL \(U\+0000\) or half of a character/],
    ['a NUL in an error', 'raise ValueError("a\\0b\\ud83d")', /^ValueError: a\\x00b\\ud83d$/],
    ['too large an output', 'output = "x" * (3 << 20)', /more than 2 MB/],
    [
      'higher limits',
      'import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))',
      /^ValueError/,
    ],
  ])('%s is an error of the Python', async (_, source, message) => {
    const { executionError, outputData, inputRowCount } = await run(source);
    expect(executionError).toMatch(message);
    expect([outputData, inputRowCount]).toEqual([null, 2]);
  });

  test('Python that does not end is ended, and only the first of its words are kept', async () => {
    const { executionError, stdout } = await run(
      'while True: print("x" * 1000)',
      createPython({ timeMs: 3000 }),
    );
    expect(executionError).toBe('The program took too much time.');
    expect(stdout.length).toBeLessThanOrEqual(64 * 1024);
  });

  test('Python reaches no network, no files, no processes and no settings of the server', async () => {
    const { port } = new URL(world.url);
    const { outputData } = await run(`import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(*call):
    return ctypes.get_errno() if libc.syscall(*call) < 0 else 0
def attempt(work):
    try:
        work()
        return "done"
    except OSError as error:
        return type(error).__name__
output = {
    "network": attempt(lambda: socket.create_connection(("127.0.0.1", ${port}), 5)),
    "files": [name for name in ("/etc", "/proc", "/home", "/root", "/var", "/work", "/usr/bin/sh") if os.path.exists(name)],
    "processes": [os.getppid(), os.getpid()],
    "namespaces": [errno_of(272, 0x10000000), errno_of(56, 0x10000011, 0, 0, 0, 0)],
    "settings": sorted(os.environ),
    "user": os.getuid(),
}`);
    expect(outputData).toEqual({
      network: 'ConnectionRefusedError',
      files: [],
      processes: [1, 2],
      // EPERM, from `unshare` and from `clone`.
      namespaces: [1, 1],
      // The first is Python's own, and the second is that of bubblewrap.
      settings: ['LC_CTYPE', 'PWD'],
      user: 65534,
    });
  });

  test('Python has the time of a processor for some seconds, and is ended after it', async () => {
    expect(
      (await run('import resource\noutput = resource.getrlimit(resource.RLIMIT_CPU)')).outputData,
    ).toEqual([10, 10]);
    const brief = createPython({ cpuSeconds: 1, timeMs: 60_000 });
    expect((await run('while True: pass', brief)).executionError).toMatch(
      /^The program ended before its end/,
    );
  });

  // The limit of the test is far below that of the program, which would end the program too.
  test('a caller who leaves ends the Python', { timeout: 60_000 }, async () => {
    const leaving = new AbortController();
    const { rows, isReleased } = released(() => leaving.abort());
    const patient = createPython({ timeMs: 600_000 });
    await expect(
      patient.run('import time\ntime.sleep(600)', rows, whom('leaver', leaving.signal)),
    ).rejects.toThrow();
    expect(isReleased()).toBe(true);
  });

  test('Python learns that there are more rows, and so does the caller', async () => {
    const capped = Buffer.from(String(TWO).replace('"rowsCapped":false', '"rowsCapped":true'));
    const { outputData, stderr } = await python.run('output = rows_capped', async () => capped, whom());
    expect([outputData, stderr]).toEqual([
      true,
      'The query has more rows: the program gets the first 2 only.\n',
    ]);
    expect((await run('output = rows_capped')).outputData).toBe(false);
  });

  test('rows that come in many pieces leave no listeners behind', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    async function* pieces() {
      yield Buffer.from('{"schema":[{"name":"name","column_type":"String"}]}\n{"data":[');
      // Each piece is larger than what the pipe takes at once, so each has to wait.
      for (let i = 0; i < 20; i++) yield Buffer.from(`["${'x'.repeat(500_000)}"]${i < 19 ? ',' : ''}`);
      yield Buffer.from(']}\n{"rowsCapped":false}\n');
    }
    const rows = { byteLength: 10_000_000, release() {}, [Symbol.asyncIterator]: pieces };
    expect((await python.run('', async () => rows, whom())).inputRowCount).toBe(20);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('slow queries of others keep nobody from a place', async () => {
    let answer = (_rows: Buffer) => {};
    const slow = new Promise<Buffer>((resolve) => {
      answer = resolve;
    });
    const others = ['one', 'two', 'three'].map((sharer) => python.run('', () => slow, whom(sharer)));
    expect((await run('output = 1')).outputData).toBe(1);
    answer(TWO);
    for (const { executionError } of await Promise.all(others)) expect(executionError).toBeNull();
  });

  test('rows are released if there is no room for them', async () => {
    const ends = new AbortController();
    const endless = [1, 2, 3].map(() =>
      python.run('import time\ntime.sleep(60)', async () => TWO, whom('many', ends.signal)),
    );
    const over = released();
    await expect(python.run('', over.rows, whom('many'))).rejects.toMatchObject({ code: 'too_many_at_once' });
    expect(over.isReleased()).toBe(true);
    ends.abort();
    for (const { status } of await Promise.allSettled(endless)) expect(status).toBe('rejected');
  });
});

/** Viewers see the customers of their region. */
const POLICY = `    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ securityContext.region }"] }] }
`;
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

describe('of a published dashboard', () => {
  let deploymentId: number;
  let publicId: string;
  let body: { reportId: number; reportVersionId: number; sqlQuery: string };
  let bodyOfSql: typeof body;
  let plainId: number;
  const NAMES = 'select name from sales group by 1';
  beforeAll(async () => {
    deploymentId = await createShop(world, shopWith(POLICY));
    const jsonQuery = JSON.stringify({ dimensions: ['sales.name'] });
    const report = async (meta: object | null) =>
      (await world.admin.createReport({ deploymentId, body: { name: 'Names', jsonQuery, meta } })).id;
    const reportId = await report({ python: 'output = sorted(row["name"] for row in rows)' });
    plainId = await report(null);
    const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Board' } });
    const position = { x: 0, y: 0, w: 4, h: 4 };
    const ofSql = await world.admin.createReport({
      deploymentId,
      body: { name: 'Names', sqlQuery: NAMES, meta: { python: 'output = len(rows)' } },
    });
    const widgets = [reportId, plainId, ofSql.id].map((id) => ({
      id: String(id),
      type: 'CHART' as const,
      position,
      config: { reportId: id },
    }));
    const published = await world.admin.publishDashboard({
      deploymentId,
      workbookId,
      body: { config: { widgets }, allowEmbed: true },
    });
    publicId = published.publicId;
    await world.admin.updateEmbedAccess({
      deploymentId,
      workbookId,
      body: { allowEmbed: true, embedTenantName: await tenant('tenant-emea'), action: 'read' },
    });
    expect(published.reportSnapshots[0]!.meta).toMatchObject({ hasPython: true });
    body = {
      reportId,
      reportVersionId: published.reportSnapshots[0]!.id,
      sqlQuery: NAMES,
    };
    bodyOfSql = { reportId: ofSql.id, reportVersionId: published.reportSnapshots[2]!.id, sqlQuery: NAMES };
  });

  async function tenant(name: string) {
    await clientOf('EMEA', name);
    return name;
  }
  const clientOf = async (region: string, embedTenantName: string) =>
    (
      await world.embedded({
        deploymentId,
        externalId: unique('viewer'),
        embedTenantName,
        securityContext: { region },
      })
    ).client;
  type Client = Awaited<ReturnType<typeof clientOf>>;
  const post = (client: Client, given = body) =>
    client.postDashboardPythonRun({ publicId, body: given }).then(
      (answer) => ({ status: 200, body: answer }),
      ({ status, code }: { status: number; code: string }) => ({ status, body: { code } }),
    );

  test('each viewer gets what Python makes of their rows', async () => {
    const emea = await post(await clientOf('EMEA', 'tenant-emea'));
    const amer = await post(await clientOf('AMER', 'tenant-emea'));
    if (problem) return expect([emea.status, amer.status]).toEqual([501, 501]);
    expect(emea).toMatchObject({
      status: 200,
      body: { outputData: ['Ada', 'Cyd'], inputRowCount: 2, executionError: null, stdout: '', stderr: '' },
    });
    expect(amer.body).toMatchObject({ outputData: ['Bob'], inputRowCount: 1, at: expect.any(String) });
  });

  test('without SQL of their own, viewers run the published SQL of the report, and no other', async () => {
    const client = await clientOf('EMEA', 'tenant-emea');
    await world.admin.updateTenantSettings({ body: { embedSql: false } });
    try {
      expect((await post(client, bodyOfSql)).status).toBe(problem ? 501 : 200);
      // Neither other SQL, nor the SQL of one report for another.
      for (const given of [body, { ...bodyOfSql, sqlQuery: `${NAMES} limit 1` }]) {
        const refused = problem ? { status: 501 } : { status: 403, body: { code: 'embed_sql_disabled' } };
        expect(await post(client, given)).toMatchObject(refused);
      }
    } finally {
      await world.admin.updateTenantSettings({ body: { embedSql: true } });
    }
  });

  test('people need AIBIView, and nothing else than to see the dashboard', async () => {
    const runAs = async (given: Action[]) => {
      const role = await world.admin.createRole({ body: { name: unique('role'), actions: given } });
      return post((await world.person({ roles: [role.name] })).client);
    };
    const lacking = actions.filter((action) => !['All', 'AIBIView'].includes(action));
    expect(await runAs(lacking)).toEqual({ status: 403, body: { code: 'forbidden' } });
    const { status } = await runAs(['AIBIView', 'DeploymentRead', 'WorkbookRead']);
    expect(status).toBe(problem ? 501 : 200);
  });

  test('others and wrong ids get a 404, and wrong SQL a 400', async () => {
    expect(await post(await clientOf('EMEA', 'tenant-other'))).toMatchObject({
      status: 404,
      body: { code: 'dashboard_not_found' },
    });
    const viewer = await clientOf('EMEA', 'tenant-emea');
    for (const wrong of [{ reportId: plainId }, { reportVersionId: body.reportVersionId + 1 }])
      expect(await post(viewer, { ...body, ...wrong })).toMatchObject({
        status: 404,
        body: { code: 'python_not_found' },
      });
    if (problem) return;
    expect((await post(viewer, { ...body, sqlQuery: 'select * from files.orders' })).status).toBe(400);
  });
});
