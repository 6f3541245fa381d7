/** `npm run audit:verify` shows whether the audit log is as it was sealed, beside a running server and without one. */
import { afterAll, expect, test } from 'vitest';
import { databaseProcesses } from './database-processes.ts';
import {
  ADMIN_KEY,
  cleanUp,
  MAIN,
  openDatabase,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';

afterAll(cleanUp);

async function verify(dataDir: string, args: string[] = []) {
  const run = spawnServer(dataDir, {}, [process.execPath, MAIN, 'audit-verify', ...args]);
  const { code } = await run.ended;
  return { code, stdout: run.stdout, stderr: run.stderr };
}

test('the command names the entry that was changed, and its exit code shows it', async () => {
  const dataDir = await usedDataDir();
  const server = await startServer(dataDir);
  const { id } = await server.client(ADMIN_KEY).createUserGroup({ body: { name: 'audited' } });
  const database = await openDatabase(dataDir);
  const isSealed = async () =>
    (
      await database.query(
        "select from audit_log where resource_type = 'userGroup' and id <= (select sealed_to from audit_log_chain)",
      )
    ).rowCount;
  await until('the entry is sealed', isSealed);

  const sound = await verify(dataDir);
  expect(sound).toMatchObject({ code: 0, stderr: '' });
  expect(sound.stdout).toMatch(/^No sealed entry of the audit log was changed, removed or added\.\n/);
  const seal = /^ {2}(\d+:[0-9a-f]{64})$/m.exec(sound.stdout)![1]!;
  expect(await verify(dataDir, ['--seal', seal])).toMatchObject({ code: 0 });
  expect(
    await verify(dataDir, ['--seal', seal.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]),
  ).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^The audit log is not as it was sealed: seal \d+ is not the one that was expected\.\n$/,
    ),
  });
  expect(await verify(dataDir, ['--seal', 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Usage: /),
  });

  await database.query('alter table audit_log disable trigger audit_log_append_only');
  const { rows } = await database.query(
    "update audit_log set user_id = 999 where resource_type = 'userGroup' and resource_id = $1 returning id",
    [String(id)],
  );
  await database.end();
  const problem = `The audit log is not as it was sealed: entry ${rows[0].id} was changed.\n`;
  expect(await verify(dataDir)).toEqual({ code: 1, stdout: '', stderr: problem });
  await stop(server);
  expect(await verify(dataDir)).toEqual({ code: 1, stdout: '', stderr: problem });
  expect(databaseProcesses(dataDir)).toEqual([]);
});
