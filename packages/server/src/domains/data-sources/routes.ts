import { dataModelLimits, operations } from '@oriel/contract';
import { draftCubes } from '@oriel/semantic';
import { DEFAULT_SOURCE } from '../../engines/data-sources.ts';
import type { Table } from '../../engines/engine.ts';
import { ApiError } from '../../platform/errors.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { blobOf } from '../../platform/git/objects.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import {
  type BranchLock,
  branchToWrite,
  changeFiles,
  type EnqueueBuild,
  type Files,
  findModelSettings,
  requireRoom,
  rootOf,
} from '../data-models/index.ts';
import type { DataSources } from './data-sources.ts';
import { chosenTables, reasonOf } from './rules.ts';

const keyOf = ({ schema, name }: Table) => [schema, name];
const isAfter = (table: Table, [schema, name]: unknown[]) =>
  table.schema === schema ? table.name > (name as string) : table.schema > (schema as string);
const inOrder = (tables: Table[]) =>
  [...tables].sort((one, other) => (isAfter(one, keyOf(other)) ? 1 : isAfter(other, keyOf(one)) ? -1 : 0));

interface WriteOptions {
  enqueueBuild: EnqueueBuild;
  branchTurns: BranchLock;
}

export const dataSourceRoutes = (sources: DataSources, { enqueueBuild, branchTurns }: WriteOptions) => [
  handle(
    operations.listDataSourceTables,
    async ({ actor, db, cursors, signal }, { params: { deploymentId, name }, query: { first, after } }) => {
      const list = `tables of ${name}`;
      const from = after === undefined ? undefined : cursors.decode(list, after);
      const opened = await sources.require(db, actor, deploymentId, name);
      const tables = inOrder(await sources.listTables(deploymentId, opened, { signal }));
      const size = pageSize(first);
      return toPage(tables.filter((table) => !from || isAfter(table, from)).slice(0, size + 1), {
        size,
        after,
        cursorOf: (table) => cursors.encode(list, keyOf(table)),
      });
    },
  ),

  handle(operations.testDataSource, async ({ actor, db, signal }, { params: { deploymentId, name } }) => {
    const opened = await sources.require(db, actor, deploymentId, name);
    const reach = await sources.test(deploymentId, opened, { signal });
    return { ...reach, reason: reach.isReachable ? null : reasonOf(reach.message) };
  }),

  handle(
    operations.sampleDataSourceTable,
    async ({ actor, db, signal }, { params: { deploymentId, name }, query: { schema, table } }) => {
      const opened = await sources.require(db, actor, deploymentId, name);
      return sources.sample(deploymentId, opened, { schema, name: table }, { signal });
    },
  ),

  handle(
    operations.generateDataModel,
    async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      const branch = await branchToWrite(db, actor, deploymentId, body);
      const opened = await sources.require(db, actor, deploymentId, body.dataSource ?? DEFAULT_SOURCE);
      const { source } = opened;
      const tables = inOrder(await sources.listTables(deploymentId, opened, { signal }));
      const chosen = body.tables ? chosenTables(tables, body.tables) : tables;
      if (chosen.length > dataModelLimits.filesPerRequest) throw tooManyTables(chosen.length);
      const drafts = draftCubes(chosen, source.name === DEFAULT_SOURCE ? {} : { dataSource: source.name });
      const blobs = drafts.map(({ text }) => blobOf(text));
      await requireRoom(
        db,
        deploymentId,
        blobs.reduce((sum, { content }) => sum + content.length, 0),
      );
      const root = rootOf((await findModelSettings(db, deploymentId))?.deployProjectRoot ?? '/');
      return branchTurns([branch.id], signal, async () => {
        const hashes = await createObjects(db, deploymentId).write(blobs);
        const edits = new Map(drafts.map(({ path }, i) => [root + path, hashes[i]!]));
        return change(async (tx) => {
          let skipped: string[] = [];
          const plan = (files: Files) => {
            skipped = body.overwrite ? [] : [...edits.keys()].filter((path) => files.has(path));
            return new Map([...edits].filter(([path]) => !skipped.includes(path)));
          };
          const drafting = { plan, nameOf: (path: string) => path };
          const changes = await changeFiles(tx, actor, branch, drafting, enqueueBuild);
          const written = [...edits.keys()].filter((path) => !skipped.includes(path));
          return { reply: { branchName: branch.name, written, skipped }, changes };
        });
      });
    },
  ),
];

const tooManyTables = (count: number) =>
  new ApiError('data_model_too_large', {
    message: `There are ${count} tables: choose at most ${dataModelLimits.filesPerRequest} with \`tables\`.`,
  });
