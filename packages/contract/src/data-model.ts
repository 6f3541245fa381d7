/** Schemas and limits that the operations on branches, files and uploads share. */
import { Type } from 'typebox';
import { Id, Maybe, Shape } from './schemas.ts';

const MB = 1024 * 1024;

export const dataModelLimits = {
  branches: 1000,
  branchNameBytes: 200,
  files: 10_000,
  fileBytes: MB,
  modelBytes: 100 * MB,
  /** All that a deployment stores of its data model: its history, and what is not committed yet. */
  storedBytes: 10 * 1024 * MB,
  /** What can be sent in one upload. A file that is sent again counts again. */
  sentFiles: 20_000,
  sentBytes: 200 * MB,
  pathBytes: 1024,
  /** One part of a path, between slashes. */
  segmentBytes: 255,
  /** Each folder of a path is an object to store, and a node of the lists. */
  foldersPerPath: 20,
  folders: 20_000,
  /** The files that one request can change. Larger changes are uploads. */
  filesPerRequest: 1000,
  requestBytes: 8 * MB,
  /** What a list of files without pages may hold: contents, paths and folders. */
  listedBytes: 16 * MB,
} as const;

export const BranchName = Type.String({
  minLength: 1,
  maxLength: dataModelLimits.branchNameBytes,
  description: 'A name that git accepts for a branch, of at most 200 bytes',
  examples: ['feature/regions'],
});

export const FilePath = Type.String({
  minLength: 1,
  maxLength: dataModelLimits.pathBytes,
  description: 'Relative to the root of the data model, with `/` between its parts',
  examples: ['model/cubes/orders.yml'],
});

/** Which branch a request means. Without both, it is the branch on which the caller entered dev mode last. */
export const branchInBody = {
  branchId: Maybe(Id),
  branchName: Maybe(BranchName),
};

export const DataModelWriteResponse = Shape('DataModelWriteResponse', { success: Type.Boolean() });

export const CommitMessage = Type.String({
  maxLength: 10_000,
  description: 'If it is missing or blank, Oriel writes one',
  examples: ['Add regions to customers'],
});

/** A full SHA-1, as git writes it. */
export const CommitHash = Type.String({
  minLength: 40,
  maxLength: 40,
  description: 'The hash that git computes for the same commit',
  examples: ['d670460b4b4aece5915caf5c68d12f560a9fe3e4'],
});

/** What is wrong with a file of the model. */
export const DataModelError = Shape('DataModelError', {
  fileName: Type.String({ examples: ['model/cubes/orders.yml'] }),
  message: Type.String(),
  line: Maybe(Type.Integer({ minimum: 1 })),
  column: Maybe(Type.Integer({ minimum: 1 })),
});
