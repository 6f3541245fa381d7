/**
 * What a dbt project can reach while dbt parses it. The project is code of others, so a program in the place of dbt tries what
 * such code would try. `npm run test:dbt` runs dbt itself.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installDebianPackages } from '../../../../../scripts/debian.ts';
import { BUBBLEWRAP } from '../../platform/processes/fence.ts';
import { parseProject } from './dbt-parse.ts';

const SYSTEM_PYTHON = '/usr/bin/python3';
if (!existsSync(BUBBLEWRAP) || !existsSync(SYSTEM_PYTHON)) installDebianPackages('bubblewrap', 'python3');
const isThere = existsSync(BUBBLEWRAP) && existsSync(SYSTEM_PYTHON);
if (!isThere) console.warn('The sandbox of dbt was not tested: there is no bubblewrap or no Python.');

/** In the place of `dbt.cli.main`: what it finds out is the manifest. */
const STAND_IN = `
import json, os, socket, subprocess
tried = json.load(open("/tmp/project/tried.json"))

def outcome(work):
    try:
        return str(work() or "done")
    except BaseException as error:
        return type(error).__name__

def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(5)
        client.connect(address)

class dbtRunner:
    def invoke(self, args):
        found = {
            "loopback": outcome(lambda: connect(socket.AF_INET, ("127.0.0.1", tried["port"]))),
            "elsewhere": outcome(lambda: connect(socket.AF_INET, ("192.0.2.1", 80))),
            "name": outcome(lambda: socket.getaddrinfo("example.com", 443)),
            "unix socket": outcome(lambda: connect(socket.AF_UNIX, tried["socket"])),
            "written": outcome(lambda: open(tried["written"], "w")),
            "program": outcome(lambda: subprocess.run(["cat", tried["read"][0]], check=True, capture_output=True)),
            "signal": outcome(lambda: os.kill(tried["pid"], 0)),
            "environment": sorted(os.environ),
            "user": os.getuid(),
            "read": {path: outcome(lambda: open(path).read(1)) for path in tried["read"]},
            "own": open("/tmp/project/models/own.sql").read(),
        }
        os.makedirs("/tmp/target")
        with open("/tmp/target/manifest.json", "w") as file:
            json.dump(found, file)
        class Done:
            success = True
        return Done()
`;

let home: string;
let python: string;
let listening: Server;
let onSocket: Server;
let connections = 0;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'oriel-dbt-'));
  await chmod(home, 0o755);
  const modules = join(home, 'venv/lib/modules');
  python = join(home, 'venv/bin/python');
  for (const folder of ['venv/bin', 'venv/lib/modules/dbt/cli', 'data'])
    await mkdir(join(home, folder), { recursive: true });
  await symlink(SYSTEM_PYTHON, python);
  await writeFile(join(home, 'venv/pyvenv.cfg'), 'home = /usr/bin\ninclude-system-site-packages = false\n');
  await writeFile(join(modules, 'yaml.py'), '');
  await writeFile(join(modules, 'dbt/cli/main.py'), STAND_IN);
  // Where the Python of this machine looks, whatever its version is.
  for (let minor = 9; minor < 20; minor++) {
    await mkdir(join(home, `venv/lib/python3.${minor}`));
    await symlink(modules, join(home, `venv/lib/python3.${minor}/site-packages`));
  }
  // Open to everybody, so that only the sandbox can be what keeps it.
  await writeFile(join(home, 'data/secret.key'), 'the secret', { mode: 0o644 });
  const count = () => connections++;
  listening = createServer(count).listen(0, '127.0.0.1');
  onSocket = createServer(count).listen(join(home, 'data/socket'));
  await Promise.all([listening, onSocket].map((server) => new Promise((go) => server.once('listening', go))));
  await chmod(join(home, 'data/socket'), 0o777);
});
afterAll(async () => {
  for (const server of [listening, onSocket]) server?.close();
  await rm(home, { recursive: true, force: true });
});

test.skipIf(!isThere)(
  'code of a project reaches no network, no file of the server and no other process',
  async () => {
    const read = [
      join(home, 'data/secret.key'),
      `/proc/${process.pid}/environ`,
      join(import.meta.dirname, 'dbt-parse.ts'),
      '/etc/passwd',
    ];
    const tried = {
      ...{ port: (listening.address() as { port: number }).port, socket: join(home, 'data/socket') },
      ...{ written: join(home, 'venv/written'), pid: process.pid, read },
    };
    const files = new Map(
      Object.entries({
        'dbt_project.yml': 'name: hostile\n',
        'profiles.yml': 'hostile: {}\n',
        'models/own.sql': 'select 1',
        'tried.json': JSON.stringify(tried),
      }).map(([path, text]) => [path, Buffer.from(text)]),
    );
    const parsed = await parseProject(python, { files, schema: null }, new AbortController().signal);
    const found = JSON.parse(parsed.toString());
    // The program did run, and saw the project.
    expect(found.own).toBe('select 1');
    for (const way of ['loopback', 'elsewhere', 'name', 'unix socket', 'written', 'program', 'signal'])
      expect([way, found[way]]).toEqual([way, expect.stringMatching(/Error$|^gaierror$/)]);
    expect(Object.keys(found.read)).toEqual(read);
    for (const [path, outcome] of Object.entries(found.read))
      expect([path, outcome]).toEqual([path, expect.stringMatching(/Error$/)]);
    expect(found.user).not.toBe(0);
    for (const name of Object.keys(process.env).filter((name) => name.startsWith('ORIEL_')))
      expect(found.environment).not.toContain(name);
    expect(connections).toBe(0);
  },
);
