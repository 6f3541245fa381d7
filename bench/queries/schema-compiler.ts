/**
 * The npm package `@cubejs-backend/schema-compiler`, which compiles models and plans queries too. The benchmark installs
 * it into its cache, so that it is no dependency of the product. Its native part is not installed: its planner is off,
 * and the engine of templates, which our model has none of, is a stub.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cacheDir } from '../harness/paths.ts';
import { runTool } from '../harness/run-tool.ts';

const NAME = '@cubejs-backend/schema-compiler';
export const PEER_VERSION = '1.7.43';
const INSTALL_WITHIN_MS = 10 * 60_000;

interface Compilers {
  compiler: { compile(): Promise<void> };
}

/** What we use of the package. */
interface SchemaCompiler {
  prepareCompiler(repository: object, options: object): Compilers;
  PostgresQuery: new (compilers: Compilers, query: object) => { buildSqlAndParams(): [string, unknown[]] };
}

export interface Peer {
  compile(files: ReadonlyMap<string, string>): Promise<PeerModel>;
}

export interface PeerModel {
  /** The statement for PostgreSQL. */
  plan(query: object): [string, unknown[]];
}

/** Throws if the package cannot be installed or loaded here. */
export async function openPeer(): Promise<Peer> {
  const { prepareCompiler, PostgresQuery } = await load();
  const nativeInstance = { newJinjaEngine: () => ({}), loadPythonContext: async () => ({}) };
  return {
    async compile(files) {
      const content = [...files].map(([fileName, content]) => ({ fileName, content }));
      const repository = { localPath: () => '/', dataSchemaFiles: async () => content };
      const compilers = prepareCompiler(repository, { nativeInstance });
      await compilers.compiler.compile();
      return { plan: (query) => new PostgresQuery(compilers, query).buildSqlAndParams() };
    },
  };
}

async function load(): Promise<SchemaCompiler> {
  const folder = join(cacheDir, `schema-compiler-${PEER_VERSION}`);
  if (!existsSync(join(folder, 'node_modules', NAME))) {
    console.log(`Installing ${NAME} ${PEER_VERSION} into ${folder}…`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
    await runTool('npm', ['install', ...flags, `${NAME}@${PEER_VERSION}`], INSTALL_WITHIN_MS);
  }
  Object.assign(process.env, {
    CUBEJS_TESSERACT_SQL_PLANNER: 'false',
    CUBEJS_TRANSPILATION_NATIVE: 'false',
  });
  return createRequire(join(folder, 'package.json'))(NAME) as SchemaCompiler;
}
